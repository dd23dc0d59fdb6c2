"""Find the time zone by which a statement reads times, for its header and for the definition of a rollup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.query_text import expression_text
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.engines.database import Database
    from sqlrank.inputs.bound_input import BoundInput

_ZONED_TYPES = ("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE")
_CLOCKS = (exp.CurrentDate, exp.CurrentDatetime, exp.CurrentTime, exp.CurrentTimestamp)
_ZONED_CASTS = (exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMETZ)


def find_time_zone(inputs: Iterable[BoundInput], database: Database) -> str:
    """Return the time zone of the session if the columns that inputs read depend on it, empty if none does."""
    return database.time_zone if any(map(_reads_zoned_times, inputs)) else ""


def _reads_zoned_times(bound_input: BoundInput) -> bool:
    column_types = bound_input.table.column_types or {}
    trees = [bound_input.expressions[name] for name in bound_input.columns.values() if name in bound_input.expressions]
    trees += [] if bound_input.where is None else [bound_input.where]
    names = {*bound_input.columns.values(), *(column.name for tree in trees for column in find_nodes(tree, exp.Column))}
    texts = [text for tree in trees for node in tree.walk() if (text := expression_text(node)) is not None]
    return any(column_types.get(name, "").startswith(_ZONED_TYPES) for name in names) or any(
        node.is_type(*_ZONED_CASTS) if isinstance(node, exp.Cast) else True
        for text in texts
        for node in text.tree.find_all(exp.Cast, *_CLOCKS)
    )
