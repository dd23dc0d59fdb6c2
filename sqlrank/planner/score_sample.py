"""Count rows, distinct scores and groups among the first rows of predictions, for the plan ``score_order``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.sql_ast import quoted_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.bound_input import BoundInput

SAMPLE_ROWS = 100_000
"""Number of sampled rows from which the share of distinct scores is estimated."""


def sample_distinct_counts(database: Database, bound_input: BoundInput, group: Sequence[str] = ()) -> tuple[int, int, int]:
    """Count the rows, distinct scores and groups among the first ``SAMPLE_ROWS`` rows of an input."""
    keys = [quoted_column(name) for name in group]
    rows = bound_input.select_columns(("score", *(name for name in group if name not in bound_input.group_names)))
    sample = exp.select("score", *keys).from_(rows.subquery("all_rows")).limit(SAMPLE_ROWS).subquery("sampled_rows")
    scores = exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))
    # DuckDB 2.0 crashes on DISTINCT rows that hold fixed-size arrays, so nested values are compared as text.
    compared = [
        exp.cast(column, "TEXT") if "[" in bound_input.column_type(name) else column for name, column in zip(group, keys, strict=True)
    ]
    groups = exp.Count(this=exp.Distinct(expressions=[exp.func("ROW", *compared)])) if keys else exp.Literal.number(1)
    ((total, distinct, num_groups),) = database.query_rows(exp.select(exp.Count(this=exp.Star()), scores, groups).from_(sample))
    return total, distinct, num_groups
