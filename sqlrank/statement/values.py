"""What a metric is where it is undefined, and over all lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import MetricError
from sqlrank.library.confidence import TIMES
from sqlrank.library.nodes import nodes
from sqlrank.statement.bind import apply
from sqlrank.statement.moves import can_be_null
from sqlrank.statement.rows import finite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library
    from sqlrank.library.metric import Value
    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column


def filled(relations: Relations, column: Column, settings: Mapping[str, Value]) -> exp.Expr:
    """The value of a metric, where it is undefined what the policy says."""
    value: exp.Expr = exp.column(column.alias, table=column.scan)
    if relations.library.can_overflow(column.asked.file, column.asked.uses.files):
        value = finite(value)
    if column.asked.file.is_total:
        return exp.func("COALESCE", value, exp.Literal.number(0))
    return relations.function("no_relevant", settings, value)


def if_asked(relations: Relations, column: Column) -> exp.Expr:
    """The value of a metric of groups, which stays undefined unless the policy says what it is then."""
    return filled(relations, column, {"no_relevant": "skip", **column.asked.settings})


def aggregate(relations: Relations, column: Column, weighted: bool, is_drawn: bool = False) -> exp.Expr:
    """The value of a metric over all lists of a group."""
    value, is_never_null = exp.column(column.alias), is_drawn and not can_be_null(column)
    return aggregated(
        relations.library, column.asked, value, column.unit, weighted=weighted, is_drawn=is_drawn, is_never_null=is_never_null
    )


def aggregated(
    library: Library, asked: Asked, value: exp.Expr, unit: str, *, weighted: bool, is_drawn: bool = False, is_never_null: bool = False
) -> exp.Expr:
    """The values of a ``unit`` put together; NULL where a list has none and the policy says so. Those that are drawn weigh as often."""
    settings = asked.settings
    chosen = settings.get("aggregate", "wmean" if weighted else "mean")
    if chosen == "wmean" and not weighted:
        what = "is for metrics of rankings" if unit == "query" else "needs a queries table with a weight column"
        raise MetricError(f"aggregate='wmean' {what}")
    weight = exp.column("weight") if weighted or is_drawn else exp.Literal.number(1)
    if is_drawn and chosen == "mean":
        chosen, weight = "wmean", exp.column(TIMES) if weighted else weight
    found = apply(library, "aggregate", [value, weight], {**settings, "aggregate": chosen})
    if is_never_null:
        found = _never_null(found, value)
    if library.can_overflow(asked.file, [*asked.uses.files, library.function("aggregate", str(chosen))]):
        found = finite(found)
    if settings.get("no_relevant") == "null":
        incomplete = exp.LT(this=exp.Count(this=value.copy()), expression=exp.Count(this=exp.Star()))
        return exp.Case(ifs=[exp.If(this=incomplete, true=exp.Null())], default=found)
    return found


def _never_null(found: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return an expression without the cases that a value is NULL, so that what metrics of the same queries have in common is added up once."""
    is_null = exp.Is(this=value, expression=exp.Null())
    for case in nodes(found, exp.Case):
        if [item.this for item in case.args["ifs"]] == [is_null]:
            case.replace(case.args["default"])
    return found
