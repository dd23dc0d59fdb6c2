"""What the first rows of an input say of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.input import Input

PROBED = 100_000
"""Rows that are looked at to see how many scores are distinct."""


def probed(database: Database, item: Input, group: Sequence[str] = ()) -> tuple[int, int, int]:
    """Return how many the first ``PROBED`` rows of an input are, and how many scores they have, and groups by some columns."""
    keys = [exp.column(exp.to_identifier(name, quoted=True)) for name in group]
    rows = item.select(("score", *(name for name in group if name not in item.by)))
    first = exp.select("score", *keys).from_(rows.subquery("given")).limit(PROBED).subquery("probed")
    scores = exp.Count(this=exp.Distinct(expressions=[exp.column("score")]))
    groups = exp.Count(this=exp.Distinct(expressions=[exp.func("ROW", *keys)])) if keys else exp.Literal.number(1)
    ((total, distinct, number),) = database.rows(exp.select(exp.Count(this=exp.Star()), scores, groups).from_(first))
    return total, distinct, number
