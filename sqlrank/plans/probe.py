"""What the first rows of an input say of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from sqlrank.engines.database import Database
    from sqlrank.inputs.input import Input

PROBED = 100_000
"""Rows that are looked at to see how many scores are distinct."""


def scores(database: Database, item: Input) -> tuple[int, int]:
    """Return how many the first ``PROBED`` rows of an input are, and how many scores they have."""
    probed = exp.select("score").from_(item.select(("score",)).subquery("given")).limit(PROBED).subquery("probed")
    count = exp.select(exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))).from_(probed)
    ((total, distinct),) = database.rows(count)
    return total, distinct
