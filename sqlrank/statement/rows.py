"""Rows: steps put side by side, grouped and in a stated order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.statement.keys import Key, key, named, same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked
    from sqlrank.statement.relations import Shape


@dataclass(frozen=True)
class Part:
    """A step, or a SELECT that is still to become one, with the columns that tell its rows apart."""

    step: str
    keys: Key


@dataclass(frozen=True)
class Column:
    """A metric as a column: its name in the statement, and the step that has its values.

    ``unit`` says what it has a value for before the rows are made: a ranked ``list``, a ``query`` of a group, or a ``group``.
    """

    alias: str
    asked: Asked
    scan: str
    unit: str


def grouped(query: exp.Select, keys: Key) -> exp.Select:
    """Group by the columns of a key, if it has any."""
    return query.group_by(*map(key, keys.columns)) if keys.columns else query


def joined(query: exp.Select, base: str, part: Part) -> exp.Select:
    """Join the row that a step has for the same group; without groups it has one row."""
    on = same(part.keys.columns, part.step, base, part.keys.nullable)
    how: dict[str, Any] = {"on": exp.and_(*on, wrap=False), "join_type": "left"} if on else {"join_type": "cross"}
    return query.join(part.step, copy=False, **how)


def ordered(query: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """Put rows in the order of columns, NULL first."""
    return query.order_by(*(exp.Ordered(this=item.copy(), nulls_first=True) for item in keys)) if keys else query


def slice_of(shape: Shape) -> exp.Expr:
    """Return the number of the grouping that a row of GROUPING SETS is of."""
    case = exp.Case(ifs=[])
    for number, group in enumerate(shape.sets or ()):
        summed = [
            exp.EQ(this=exp.func("GROUPING", named(name)), expression=exp.Literal.number(int(name not in group))) for name in shape.by
        ]
        case.append("ifs", exp.If(this=exp.and_(*summed), true=exp.Literal.number(number)))
    return case


def double(node: exp.Expr) -> exp.Cast:
    """Return what a metric is in the result."""
    return exp.cast(node, "DOUBLE")
