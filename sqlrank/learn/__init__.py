"""Train a linear scorer on pAp@k, or by logistic regression, in DuckDB, by one SQL statement per
gradient step.

:func:`fit` returns the weights, :func:`merge_weights` one model of several, :func:`scoring_sql` the
statement that scores new rows with them. ``sqlrank learn`` does all three.
"""

from __future__ import annotations

from sqlrank.learn.linear_scorer import fit, merge_weights, scoring_sql

__all__ = ["fit", "merge_weights", "scoring_sql"]
