"""Train a linear scorer on pAp@k where the examples are: every step of the descent is a SQL statement on DuckDB.

:func:`fit` returns the weights, :func:`scoring_sql` the statement that scores new rows with them; ``python -m sqlrank.learn`` and
``sqlrank learn`` do both.
"""

from __future__ import annotations

from sqlrank.learn.descent import fit, scoring_sql

__all__ = ["fit", "scoring_sql"]
