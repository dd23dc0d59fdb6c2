"""Select flips of rows, from which comparisons count rows of changed outcome: the gain of a metric
by the other outcome of a row.

A row of a label is right or wrong, and the sign of its flip is its outcome. If few rows of a label
change their outcome, they say little of the number of others that would.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.intervals.influence_functions import (
    InfluenceRows,
    contribution_of_rows,
    find_underlying_sum,
    named_derivatives,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.compiler.layout import MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes

OUTCOMES = "Outcomes"
"""Annotation of the sums of a relation to one of which each row of a label adds: ``tp or fn, fp or
tn``.
"""

FLIP_LABEL = "flip_label"
"""Column of the label of rows with flips; its name in results is not that of a column of the
caller.
"""

FLIP_SUFFIX = "flip"
"""End of the names of columns of flips."""


def flip_name(alias: str) -> str:
    """Return the column of the flips of a metric."""
    return f"{alias}_{FLIP_SUFFIX}"


def find_flip(
    relations: RelationCtes, column: MetricColumn, rows: InfluenceRows
) -> exp.Expr | None:
    """Return the flip of a row for a metric, over ``r`` and ``m``, None if its rows have no
    outcomes.

    The query of the metrics has their derivatives.
    """
    if rows.kind != "contributions":
        return None
    if declared := column.metric.file.interval.influence:
        name = f"{declared.partition(' FROM ')[0].removesuffix('influence')}{FLIP_SUFFIX}"
        has_flips = name in relations.ctes[rows.step].query.named_selects
        return (
            exp.column("influence_weight", table="r") * exp.column(name, table="r")
            if has_flips
            else None
        )
    query: Any = relations.ctes[column.cte].query
    counts = relations.ctes[query.args["from_"].this.name]
    if counts.file is None or OUTCOMES not in counts.file.annotations:
        return None
    derivatives = {
        total.this.name: name for total, name in named_derivatives(relations, query, column).items()
    }
    flips = []
    for pair in counts.file.annotations[OUTCOMES].split(", "):
        outcomes = pair.split(" or ")
        if not derivatives.keys().isdisjoint(outcomes):
            flips.append(_flip_outcome(outcomes, derivatives, counts.query))
    return (
        reduce(lambda left, right: exp.Add(this=left, expression=right), flips) if flips else None
    )


def _flip_outcome(outcomes: Sequence[str], derivatives: dict[str, str], counts: Any) -> exp.Expr:
    """Return the gain of a metric by the other of two outcomes of a row, 0 for a row of neither."""
    first, second = (
        exp.column(derivatives[name], table="m") if name in derivatives else exp.Literal.number(0)
        for name in reversed(outcomes)
    )
    adds, other_adds = (
        contribution_of_rows(find_underlying_sum(exp.Sum(this=exp.column(name)), counts))
        for name in outcomes
    )
    gain = exp.paren(exp.Sub(this=first, expression=second))
    return exp.Mul(this=exp.paren(exp.Sub(this=adds, expression=other_adds)), expression=gain)
