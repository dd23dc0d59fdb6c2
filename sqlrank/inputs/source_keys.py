"""Advice on ids that are unique within a source, such as a table that was linked: one mapping for
all columns that are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.text_advice import write_mapping
from sqlrank.errors import InputError
from sqlrank.inputs.bound_input import BoundInput, bound_expression
from sqlrank.sql_ast import call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENTITY = "record_id"
_SOURCES = ("source", "source_dataset")
"""Columns within which ids of records may be unique; the second is Splink's."""
_PREFIXES = {"left_id": ("left", "l"), "right_id": ("right", "r")}


def suggest_source_keys(inputs: Mapping[str, BoundInput], *, are_repeated: bool = False) -> str:
    """Return the advice that maps ids to unique ones by their sources, in all columns that do not
    read them yet; empty if there are none, or if none does and ids are not repeated.
    """
    columns = [
        (bound_input, name)
        for bound_input in inputs.values()
        if bound_input.table.column_types is not None and not bound_input.assembled_from
        for name, column in bound_input.role.columns.items()
        if column.references == _ENTITY and name in bound_input.columns
    ]
    names = [name for _, name in columns]
    keys: dict[str, exp.Expr] = {}
    lacking = []
    for bound_input, name in columns:
        value, source = bound_expression(bound_input, name), _find_source(bound_input, name)
        if source is None:
            lacking.append(bound_input.role.name)
        elif any(column.name == source for column in find_nodes(value, exp.Column)):
            are_repeated = True
        else:
            key = name if names.count(name) == 1 else f"{bound_input.role.name}.{name}"
            source_column = exp.column(exp.to_identifier(source))
            keys[key] = call_function("CONCAT", source_column, sql_literal("-"), value)
    if not keys or not are_repeated:
        return ""
    mapping = write_mapping(keys, columns[0][0].table.dialect)
    advice = f"Ids that are unique within a source are made unique by {mapping}"
    if lacking:
        advice += f". {lacking[0]} has no column of the source: give it a query with such ids"
    return advice


def explain_source_keys(inputs: Mapping[str, BoundInput], error: InputError) -> None:
    """Raise problems of ids with the advice on their sources in the place of their own, if ids are
    repeated, or others have their sources.
    """
    repeated = [
        message
        for bound_input in inputs.values()
        if _ENTITY in bound_input.columns and (message := bound_input.role.duplicate_message)
    ]
    text = str(error)
    are_repeated = any(message in text for message in repeated)
    if not (advice := suggest_source_keys(inputs, are_repeated=are_repeated)):
        return
    problems = []
    for problem in error.args:
        head, line_break, examples = problem.partition("\n")
        if any(name in head for name in (_ENTITY, *_PREFIXES)):
            head = f"{head.rpartition('. ')[0]}. {advice}"
        problems.append(f"{head}{line_break}{examples}")
    raise InputError(*problems) from error


def _find_source(bound_input: BoundInput, name: str) -> str | None:
    """Return the column with the source of an id: of its side in a pair, or of the row."""
    names = [
        f"{side}_{source}" if is_before else f"{source}_{side}"
        for source in _SOURCES
        for side in _PREFIXES.get(name, ())
        for is_before in (True, False)
    ]
    return next(filter(None, map(bound_input.table.find_column, (*names, *_SOURCES))), None)
