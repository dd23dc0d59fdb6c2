"""Combine tables to one of all their rows: a type that holds every value of a column, or a sentence on why there is none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlrank.engines.database import ColumnProblem, SourceTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


MAX_LABELS = 3
"""Maximum number of sources that a label lists."""

_INTEGERS = {
    "TINYINT": (1, 3), "SMALLINT": (2, 5), "INTEGER": (4, 10), "BIGINT": (8, 19), "HUGEINT": (16, 38),
    "UTINYINT": (1.5, 3), "USMALLINT": (2.5, 5), "UINTEGER": (4.5, 10), "UBIGINT": (8.5, 20), "UHUGEINT": (16.5, 39),
}  # fmt: skip
"""Integer types: a signed one holds the values of all smaller sizes, as an unsigned one does of unsigned ones; and their digits."""

_INSTANTS = ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS")
"""Days and times without a time zone, from coarse to fine."""

_KEYS = ("VARCHAR", "UUID", *_INTEGERS)
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")
_MAX_DIGITS = 38
NULL_TYPE = '"NULL"'
"""Type of a column without values, which goes together with all others."""


def union_tables(role: str, tables: Sequence[SourceTable], label: str = "") -> SourceTable:
    """Return the union of tables, with casts to common types; a column that has none, or is missing in a table, is a problem if it is read."""
    first = tables[0]
    label = label or ", ".join(table.label for table in tables[:MAX_LABELS]) + (
        f" and {len(tables) - MAX_LABELS} more" if len(tables) > MAX_LABELS else ""
    )
    table = replace(
        first,
        label=label,
        column_types=None,
        display_item=None,
        is_empty=all(member.is_empty for member in tables),
        has_row_count=all(member.has_row_count for member in tables),
        members=tuple(tables),
        constants={},
        casts={},
    )
    if first.column_types is None:
        return replace(table, from_item=table.from_clause())
    names = {name.lower(): name for member in reversed(tables) for name in reversed(list(member.column_types or ()))}
    ordered = dict.fromkeys(names[name.lower()] for member in tables for name in member.column_types or ())
    types, problems = {}, {}
    for name in ordered:
        holders_of_name = [(member, column_name) for member in tables if (column_name := member.find_column(name)) is not None]
        members = [(member, (member.column_types or {})[column_name]) for member, column_name in holders_of_name]
        own = next((problem for member, column_name in holders_of_name if (problem := member.problems.get(column_name))), None)
        types[name], problem = _unify_column(role, name, members, tables)
        if problem := own or problem:
            problems[name] = problem
    casts = {name: column_type for name, column_type in types.items() if name not in problems or problems[name].allows_keys}
    table = replace(
        table,
        members=tuple(replace(member, casts=_needed_casts(member, casts)) for member in tables),
        column_types=types,
        problems=problems,
    )
    return replace(table, from_item=table.from_clause(), column_types=types | dict.fromkeys(first.constants, "VARCHAR"))


def _needed_casts(member: SourceTable, types: dict[str, str]) -> dict[str, str]:
    """Return the types that differ from those of a member; decimals of other engines keep theirs, of which only DuckDB tells the digits."""
    own = {name: (member.column_types or {}).get(member.find_column(name) or "") for name in types}
    is_kept = member.dialect != "duckdb"
    return {name: target for name, target in types.items() if own[name] not in {target, None} and not (is_kept and "DECIMAL" in target)}


def _unify_column(
    role: str, name: str, members: Sequence[tuple[SourceTable, str]], tables: Sequence[SourceTable]
) -> tuple[str, ColumnProblem | None]:
    """Return the common type of a column, and the problem if there is none or some tables lack the column."""
    holders = {duckdb_type: _find_label(member) for member, duckdb_type in reversed(members)}
    missing = [_find_label(table) for table in tables if not any(table is member for member, _ in members)]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        text = f"{role}: {missing[0]}{more} has no column {name!r}, which {_find_label(members[0][0])} has. Add it, or give queries in which it is NULL or left out"
        return members[0][1], ColumnProblem(text)
    if (common := common_type(holders)) is not None:
        return common, None
    is_key = all(duckdb_type.removesuffix("[]") in (*_KEYS, NULL_TYPE) for duckdb_type in holders)
    *others, last = (f"{duckdb_type} in {label}" for duckdb_type, label in holders.items())
    text = f"{role}: {name} is {', '.join(others)} and {last}. Give it one type, such as by a query with CAST({name} AS ...)"
    suffixes = {duckdb_type.endswith("[]") for duckdb_type in holders}
    key_type = "VARCHAR[]" if suffixes == {True} else "VARCHAR"
    return (key_type if is_key and len(suffixes) == 1 else next(iter(holders))), ColumnProblem(text, is_key and len(suffixes) == 1)


def common_type(duckdb_types: Iterable[str]) -> str | None:
    """Return the type that holds every value of these types as it is, None if there is none.

    >>> common_type(["BIGINT", "FLOAT"]), common_type(["DECIMAL(4,1)", "TINYINT"]), common_type(["INTEGER[]", "UINTEGER[]"])
    ('DOUBLE', 'DECIMAL(4,1)', 'BIGINT[]')
    >>> common_type(["BIGINT", "VARCHAR"]), common_type(["BOOLEAN", "INTEGER"]), common_type(["DATE", "TIMESTAMP"])
    (None, None, 'TIMESTAMP')
    """
    types = dict.fromkeys(duckdb_type for duckdb_type in duckdb_types if duckdb_type != NULL_TYPE) or {NULL_TYPE: None}
    if len(types) == 1:
        return next(iter(types))
    if all(duckdb_type.endswith("[]") for duckdb_type in types):
        element = common_type([duckdb_type.removesuffix("[]") for duckdb_type in types])
        return None if element is None else f"{element}[]"
    if all(duckdb_type in _INSTANTS for duckdb_type in types):
        return max(types, key=_INSTANTS.index)
    if all(duckdb_type == "VARCHAR" or duckdb_type.startswith("ENUM") for duckdb_type in types):
        return "VARCHAR"
    return _common_number(list(types))


def _common_number(types: Sequence[str]) -> str | None:
    """Return the common type of numbers: a whole number, a decimal or a double; None if one is no number."""
    decimals = [match for duckdb_type in types if (match := _DECIMAL.fullmatch(duckdb_type))]
    integers = [duckdb_type for duckdb_type in types if duckdb_type in _INTEGERS]
    floats = [duckdb_type for duckdb_type in types if duckdb_type in {"FLOAT", "DOUBLE"}]
    if len(decimals) + len(integers) + len(floats) < len(types):
        return None
    if not floats and not decimals:
        holds_all = (
            candidate
            for candidate, (size, _) in _INTEGERS.items()
            if all(other == candidate or (_INTEGERS[other][0] < size and (size % 1 == 0 or other[0] == "U")) for other in integers)
        )
        return next(holds_all, None)
    scale = max((int(match[2]) for match in decimals), default=0)
    digits = max([int(match[1]) - int(match[2]) for match in decimals] + [_INTEGERS[duckdb_type][1] for duckdb_type in integers], default=0)
    return "DOUBLE" if floats or digits + scale > _MAX_DIGITS else f"DECIMAL({digits + scale},{scale})"


def _find_label(table: SourceTable) -> str:
    return next(iter(table.constants.values()), table.label)
