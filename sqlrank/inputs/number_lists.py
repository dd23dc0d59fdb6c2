"""Resolve class lists that a mapping gives as columns or a pattern (p_*), one column per class, and bind them as arrays of numbers and of ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.errors import InputError, enumerate_names, suggest_choice
from sqlrank.inputs.column_mapping import role_mapping
from sqlrank.inputs.row_checks import NUMERIC_TYPES
from sqlrank.inputs.user_sql import parse_expression
from sqlrank.rendering.dialects import get_dialect
from sqlrank.request import split_column_list
from sqlrank.sql_ast import DOUBLE, quoted_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.registry.roles import ColumnSpec, Role

_INTEGER = re.compile(r"-?\d+")


def split_number_lists(columns: Mapping[str, Any], roles: Sequence[Role]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the mapping into that of lists of numbers whose ids may be the names of columns, and the other columns."""
    names = {name for role in roles for spec in _number_lists(role) for name in (spec.name, f"{role.name}.{spec.name}")}
    lists = {name: column for name, column in columns.items() if name in names}
    return lists, {name: column for name, column in columns.items() if name not in names}


def _number_lists(role: Role) -> list[ColumnSpec]:
    return [column for column in role.columns.values() if column.id_list and role.columns[column.id_list].optional]


def find_columns_of_lists(bound_input: BoundInput, lists: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the columns of each list of an input that has one for each id, by the id.

    The columns are a list, names after commas, or a pattern: the ids are what the asterisk of ``p_*`` stands for.

    Raises:
        InputError: There is no such column.
    """
    columns_by_list = {}
    for spec in _number_lists(bound_input.role):
        column_list = lists.get(f"{bound_input.role.name}.{spec.name}", lists.get(spec.name))
        names = _split_columns(column_list, bound_input)
        if isinstance(column_list, str) and "*" in column_list and names:
            columns_by_list[spec.name] = _match_columns(column_list, bound_input, spec.name)
        elif names:
            columns_by_list[spec.name] = {name.strip('"`'): _resolve_column(name, bound_input, spec.name) for name in names}
    return columns_by_list


def _split_columns(column_list: Any, bound_input: BoundInput) -> list[str]:
    """Return the names of several columns, none for a column or an expression."""
    if not isinstance(column_list, str):
        return list(column_list or ())
    if bound_input.table.column_types is not None and bound_input.table.find_column(column_list) is not None:
        return []
    names = split_column_list(column_list)
    if len(names) == 1 and "*" not in column_list:
        return []
    try:
        parse_expression(column_list, bound_input.table.dialect)
    except InputError:
        return names
    return []


def _match_columns(pattern: str, bound_input: BoundInput, name: str) -> dict[str, str]:
    """Return the columns that match a pattern, by what the asterisk stands for."""
    available = bound_input.table.column_types
    if available is None or pattern.count("*") > 1:
        raise InputError(f"columns maps {name} to {pattern!r}. Name the columns, as no table is at hand, or give one asterisk")
    before, _, after = pattern.partition("*")
    matches = {
        column[len(before) : len(column) - len(after)]: column
        for column in available
        if column.startswith(before) and column.endswith(after) and len(column) > len(before) + len(after)
    }
    if not matches:
        raise InputError(
            f"columns maps {name} to {pattern!r}, which no column of {bound_input.label} matches. There are: {enumerate_names(available)}"
        )
    return matches


def _resolve_column(text: str, bound_input: BoundInput, name: str) -> str:
    column = bound_input.table.find_column(text)
    if column is None:
        available = bound_input.table.column_types or {}
        raise InputError(
            suggest_choice(f"columns maps {name} to {text!r}, which {bound_input.label} does not have", text, available, "There are")
        )
    return column


def bind_columns_of_lists(
    bound_input: BoundInput, columns_by_list: Mapping[str, Mapping[str, str]], mapping: Mapping[str, str]
) -> BoundInput:
    """Return an input with lists of several columns, and of their ids unless these are mapped.

    Ids are integers if the names of all columns are, and labels are numbers.
    """
    for name, columns in columns_by_list.items():
        ids = bound_input.role.columns[name].id_list
        is_numbered = bound_input.column_type("label").startswith(NUMERIC_TYPES) and all(map(_INTEGER.fullmatch, columns))
        values = [exp.cast(quoted_column(column), DOUBLE) for column in columns.values()]
        literals = [exp.Literal.number(text) if is_numbered else exp.Literal.string(text) for text in columns]
        lists: dict[str, tuple[Sequence[exp.Expr], str]] = {name: (values, "DOUBLE[]")}
        if ids not in role_mapping(bound_input.role.name, mapping):
            lists[ids] = (literals, "INTEGER[]" if is_numbered else "VARCHAR[]")
        for list_name, (elements, duckdb_type) in lists.items():
            is_json = get_dialect(bound_input.table.dialect).list_elements == "json_each"
            tree = exp.Anonymous(this="JSON_ARRAY", expressions=[*elements]) if is_json else exp.Array(expressions=[*elements])
            text = tree.sql("duckdb")
            bound_input = bound_input.with_expression(text, tree, duckdb_type).with_columns({list_name: text})
    return bound_input
