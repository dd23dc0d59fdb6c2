"""Group Parquet files by the names and types of their columns, which their footers hold in Thrift's compact protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.registry.query_templates import load_select

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

_BINARY, _LIST, _SET, _STRUCT = 8, 9, 10, 12
_FIXED_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of booleans, which are in the header of their field, of a byte and of a double, by the number of the type."""


def group_parquet_files(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> list[list[str]]:
    """Return Parquet files in groups of the same names and types of columns, by their footers."""
    by_schema: dict[bytes, list[str]] = {}
    for file in map(str, files):
        footer = _read_footer(file)
        schema = next((schema for schema in by_schema if footer.startswith(schema)), None)
        by_schema.setdefault(footer[: _find_schema_end(footer)] if schema is None else schema, []).append(file)
    members = {names[0]: names for names in by_schema.values()}
    if len(members) == 1:
        return list(members.values())
    # Files of several writers may have the same columns in other bytes.
    rows: list[tuple[list[str]]] = fetch_tuples(
        connection, load_select("inputs", "parquet_files.sql").sql("duckdb"), {"path": list(members)}
    )
    return [sorted(name for first in group for name in members[first]) for (group,) in rows]


def _read_footer(file: str) -> bytes:
    """Return the metadata of a Parquet file, empty for a file that is damaged or encrypted."""
    with open(file, "rb") as stream:  # noqa: PTH123  one of thousands
        stream.seek(-8, os.SEEK_END)
        length, magic = int.from_bytes(stream.read(4), "little"), stream.read(4)
        if magic != b"PAR1" or length > stream.tell() - 8:
            return b""
        stream.seek(-8 - length, os.SEEK_END)
        return stream.read(length)


def _find_schema_end(footer: bytes) -> int:
    """Return the position after the schema, the second field of the metadata in Thrift's compact protocol; 0 if there is none."""
    try:
        _, position = _read_varint(footer, 1)  # the version, after the header of its field
        return _skip_value(footer, position + 1, _LIST)
    except (IndexError, RecursionError):
        return 0


def _skip_value(data: bytes, position: int, kind: int) -> int:
    """Return the position after a value of Thrift's compact protocol."""
    if kind in _FIXED_SIZES:
        return position + _FIXED_SIZES[kind]
    if kind in {_LIST, _SET}:
        size, element, position = data[position] >> 4, data[position] & 15, position + 1
        if size == 15:  # noqa: PLR2004  the size follows
            size, position = _read_varint(data, position)
        for _ in range(size):
            position = _skip_value(data, position, element)
        return position
    if kind == _STRUCT:
        while header := data[position]:
            position += 1
            if header < 16:  # noqa: PLR2004  the number of the field follows
                _, position = _read_varint(data, position)
            position = _skip_value(data, position, header & 15)
        return position + 1
    value, position = _read_varint(data, position)
    return position + (value if kind == _BINARY else 0)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return an integer of variable length, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:  # noqa: PLR2004  the last one
            return value, position
