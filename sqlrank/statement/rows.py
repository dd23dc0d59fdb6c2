"""Rows: steps put side by side, grouped and in a stated order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.library.asked import CUTOFF
from sqlrank.library.nodes import DOUBLE
from sqlrank.statement.keys import GROUP, LIST, SLICE, Key, Keys, key, same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.library.asked import Asked


SLICED_BY = "slice"
"""The column of a result that says which grouping a row is of."""


@dataclass(frozen=True)
class Shape:
    """How rows are told apart: ``by`` are the columns of groups; ``sets`` their groupings (``[["system"], []]``), if there are several.

    ``labels`` are what the groupings are called in the result. ``attributes`` are those of ``by`` that only the table of queries has.
    ``plain`` says that lists have no numbers.
    """

    by: list[str]
    sets: list[list[str]] | None = None
    attributes: tuple[str, ...] = ()
    plain: bool = False
    labels: tuple[str, ...] = ()

    @property
    def of_lists(self) -> list[str]:
        """The columns that tell groups of lists apart, without what is known of their queries."""
        return [name for name in self.by if name not in self.attributes]


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

    def side(self, number: int) -> str:
        """Return the name of its values under one of several scores that stand side by side."""
        return f"{self.alias}_{number}"


def of_score(name: str, score: str) -> str:
    """Return what a metric under one of several scores is called for the caller, where these stand side by side."""
    return f"{name} of {score}"


def grouped(query: exp.Select, keys: Key) -> exp.Select:
    """Group by the columns of a key, if it has any."""
    return query.group_by(*map(key, keys.columns)) if keys.columns else query


def joined(query: exp.Select, base: str, part: Part, cutoffs: str | None = None) -> exp.Select:
    """Join the row that a step has for the same group, and cut-off of ``cutoffs``; without either it has one row."""
    on = same(part.keys.plain, part.step, base, part.keys.nullable)
    on += same([CUTOFF], part.step, cutoffs or base, nullable=False) if part.keys.is_swept else []
    how: dict[str, Any] = {"on": exp.and_(*on, wrap=False), "join_type": "left"} if on else {"join_type": "cross"}
    return query.join(part.step, copy=False, **how)


def swept(query: exp.Select, cutoffs: str | None) -> exp.Select:
    """Repeat rows once per cut-off, where a range is asked for."""
    return query if cutoffs is None else query.join(cutoffs, join_type="cross", copy=False)


def ordered(query: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """Put rows in the order of columns, NULL first; a grouping is never NULL."""
    items = [item.copy() if item.name == SLICED_BY else exp.Ordered(this=item.copy(), nulls_first=True) for item in keys]
    return query.order_by(*items) if keys else query


def slice_name(shape: Shape, step: str | None = None) -> exp.Expr:
    """Return what the grouping that a row is of is called."""
    case = exp.Case(ifs=[])
    for number, label in enumerate(shape.labels):
        case.append("ifs", exp.If(this=_is_of([number], step), true=exp.Literal.string(label)))
    return exp.alias_(case, SLICED_BY)


def per_slice(step: str, columns: Sequence[str], shape: Shape) -> exp.Select:
    """Repeat the rows of a step once per grouping; a column that a grouping sums over is NULL there."""
    numbers: Any = exp.select(exp.alias_(exp.Literal.number(0), SLICE))
    for number in range(1, len(shape.sets or ())):
        numbers = exp.union(numbers, exp.select(exp.alias_(exp.Literal.number(number), SLICE)), distinct=False, copy=False)
    shown: list[exp.Expr] = []
    for name in columns:
        held = [number for number, group in enumerate(shape.sets or ()) if name in group]
        if name not in shape.by:
            shown.append(exp.column(name, table=step))
            continue
        column = key(name, step)
        kept = exp.Case(ifs=[exp.If(this=_is_of(held, "slices"), true=column)]) if held else exp.Null()
        shown.append(exp.alias_(kept, column.this.copy()))
    return exp.select(*shown, exp.column(SLICE, table="slices")).from_(step).join(numbers.subquery("slices"), join_type="cross")


def _is_of(numbers: Sequence[int], step: str | None) -> exp.Expr:
    """Whether a row is of one of these groupings."""
    column = exp.column(SLICE, table=step)
    if len(numbers) == 1:
        return exp.EQ(this=column, expression=exp.Literal.number(numbers[0]))
    return exp.In(this=column, expressions=[exp.Literal.number(number) for number in numbers])


GREATEST = "1.7976931348623157e308"
"""The greatest double; NaN is greater, or compares with nothing."""


def finite(node: exp.Expr, *parts: exp.Expr) -> exp.Expr:
    """Return a number that is NULL where it would be infinite or NaN; of a sum or difference its ``parts`` are looked at.

    Databend takes a difference that is compared with numbers as great as this for one that is never so small.
    """
    sizes: list[exp.Expr] = [exp.Abs(this=part.copy()) for part in parts or [node]]
    size = reduce(lambda one, two: exp.Add(this=one, expression=two), sizes)
    is_finite = exp.LTE(this=size, expression=exp.Literal.number(GREATEST))
    return exp.Case(ifs=[exp.If(this=is_finite, true=node)])


def double(node: exp.Expr) -> exp.Cast:
    """Return what a metric is in the result."""
    return exp.cast(node, DOUBLE)


def stacked(parts: Sequence[exp.Select]) -> exp.Query:
    """Return the rows of all parts."""
    union: exp.Query = parts[0]
    for part in parts[1:]:
        union = exp.union(union, part, distinct=False, copy=False)
    return union


def sliced(query: exp.Query, keys: Keys, shape: Shape) -> tuple[exp.Query, Keys]:
    """Repeat rows once per grouping; a column that a grouping sums over is NULL there, but where it tells lists apart."""
    lists = keys.get(LIST, Key())
    if set(lists.columns) & set(keys[GROUP].columns):
        query = query.copy().select(*(exp.alias_(key(name), f"list_{name}", quoted=True) for name in lists.columns))
        keys = {**keys, LIST: Key(tuple(f"list_{name}" for name in lists.columns), lists.nullable)}
    parts = []
    for number, group in enumerate(shape.sets or ()):
        part: Any = query.copy()
        for position, column in enumerate(part.selects):
            if column.alias_or_name in shape.by and column.alias_or_name not in group:
                part.expressions[position] = exp.alias_(exp.Null(), column.alias_or_name, quoted=True)
        parts.append(part.select(exp.alias_(exp.Literal.number(number), SLICE)))
    return stacked(parts), {**keys, GROUP: Key((*keys[GROUP].columns, SLICE), nullable=True)}
