"""Steps put side by side: the rows that are asked for, from one step of each kind of metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.asked import CUTOFF
from sqlrank.library.nodes import nodes
from sqlrank.statement.keys import key
from sqlrank.statement.rows import SLICED_BY, double, joined, ordered, slice_name, swept
from sqlrank.statement.values import if_asked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.statement.relations import Relations
    from sqlrank.statement.rows import Column, Part
    from sqlrank.statement.spread import Spread


@dataclass(frozen=True)
class Sides:
    """What is put side by side: metrics, the columns that tell rows apart, and the steps of lists and queries by what their rows are."""

    relations: Relations
    columns: Sequence[Column]
    row_keys: Sequence[str]
    spread: Spread | None
    steps: Mapping[str, str]


def side_by_side(sides: Sides, parts: Sequence[Part], audits: Mapping[str, tuple[str, Sequence[str]]]) -> exp.Select:
    """Put the metrics of all steps side by side, in a stated order of rows: the cut-offs of a range beside, or below, the groups."""
    base, shape, steps = parts[0], sides.relations.shape, sides.steps
    given = sides.relations.cutoffs
    cutoffs = None if base.keys.is_swept and sides.row_keys else given
    at = None if given is None else exp.column(CUTOFF, table=cutoffs or base.step)
    keys: list[exp.Expr] = [key(name, base.step) for name in sides.row_keys]
    columns, order = list(keys), list(keys)
    if shape.sets is not None:
        place = len(shape.by)
        columns.insert(place, slice_name(shape, base.step))
        order.insert(place, exp.column(SLICED_BY))
    columns += [] if at is None else [at]
    for column in sides.columns:
        step = steps.get(column.unit, column.scan)
        own = exp.column(column.alias, table=step) if sides.spread is None else sides.spread.value(column, step)
        columns.append(exp.alias_(double(if_asked(sides.relations, column) if column.unit == "group" else own), column.alias))
        columns += [] if sides.spread is None else sides.spread.limits(column, own)
    for scan, (unit, names) in audits.items():
        found = [exp.column(name, table=steps.get(unit, scan)) for name in names]
        columns += found if at is None else [sides.relations.once(at, column) for column in found]
    if cutoffs is not None and not sides.row_keys:
        query, rest = exp.select(*columns).from_(cutoffs), parts
    else:
        query, rest = swept(exp.select(*columns).from_(base.step), cutoffs), parts[1:]
    read = {column.table for item in columns for column in nodes(item, exp.Column)}
    for part in (part for part in rest if part.step in read):
        query = joined(query, base.step, part, cutoffs)
    query = ordered(query, order)
    return query if at is None else query.order_by(at.copy())
