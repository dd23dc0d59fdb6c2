"""Read the columns of sources before their rows: tables of Arrow files by their schemas, and names
that a source has twice.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sqlrank.call.sources import JSON_READER
from sqlrank.engines.database import ColumnProblem
from sqlrank.engines.duckdb_session import describe_columns, fetch_tuples
from sqlrank.engines.file_sources import list_paths
from sqlrank.errors import InputError, quote_excerpt
from sqlrank.registry.query_templates import load_select

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import duckdb

_NUMBERED = re.compile(r"_\d+$")
_FOLDER_KEY = re.compile(r"(?:^|/)([^/=]+)=[^/]*(?=/)")
"""Pattern of a folder whose name is a column with its value, such as ``day=2026-07-01``."""


def read_folder_keys(file: str, types: Mapping[str, str]) -> list[exp.Expr]:
    """Return the argument of a reader with the types of columns that are names of folders, which it
    would guess from some of the files.
    """
    keys = [key for key in _FOLDER_KEY.findall(file) if key in types]
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(key), expression=exp.Var(this=types[key]))
        for key in keys
    ]
    return (
        [exp.EQ(this=exp.column("hive_types"), expression=exp.Struct(expressions=fields))]
        if fields
        else []
    )


def read_arrow_files(role: str, files: Sequence[Path]) -> list[tuple[Path, pa.Table]]:
    """Return the tables of Arrow and Feather files, one for each schema, with the first file of it.

    Raises:
        InputError: A file is damaged.
    """
    from pyarrow import feather, ipc  # few calls read such files

    groups: list[tuple[Path, list[pa.Table]]] = []
    for file in files:
        try:
            with pa.memory_map(str(file)) as source:
                is_stream = source.read(4) == b"\xff\xff\xff\xff"
                source.seek(0)
                table = (
                    ipc.open_stream(source).read_all() if is_stream else feather.read_table(source)
                )
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{role}: cannot read {str(file)!r}: {error}. Write it again if it is damaged"
            ) from None
        table = table.replace_schema_metadata(None)
        tables = next(
            (tables for _, tables in groups if tables[0].schema.equals(table.schema)), None
        )
        if tables is None:
            groups.append((file, [table]))
        else:
            tables.append(table)
    return [(first, pa.concat_tables(tables)) for first, tables in groups]


def find_problems(
    connection: duckdb.DuckDBPyConnection,
    role: str,
    label: str,
    node: exp.Expr,
    types: Mapping[str, str],
    own_names: Iterable[str] | None,
) -> dict[str, ColumnProblem]:
    """Return the columns of a source whose names it has twice, compared without case as engines do;
    DuckDB numbers those of one name.

    Args:
        connection: The connection.
        role: The role, for messages.
        label: Label of the source in messages.
        node: The item of FROM that reads it.
        types: Its columns, under the names that DuckDB gives them.
        own_names: The names that the source has, None to look for them.
    """
    paths = (
        []
        if isinstance(node, exp.Subquery)
        else [literal.name for literal in node.find_all(exp.Literal)][:1]
    )
    path = next((str(file) for name in paths for file in list_paths(name)), "")
    problems = {}
    lowered = {name.lower(): name for name in types}
    if any((base := _NUMBERED.sub("", name)) != name and base in lowered for name in lowered):
        counts = Counter(
            name.lower()
            for name in (_own_names(connection, node, path) if own_names is None else own_names)
        )
        for name in types:
            if any(
                counts[candidate] > 1
                for candidate in (name.lower(), _NUMBERED.sub("", name.lower()))
            ):
                base = name if counts[name.lower()] > 1 else _NUMBERED.sub("", name)
                problems[name] = ColumnProblem(
                    f"{role}: {label} has two columns that are named"
                    f" {quote_excerpt(base, is_name=True)}, in any case. Rename one of them, or"
                    " leave it out"
                )
    if keys := {key.lower() for key in _FOLDER_KEY.findall(path)} & lowered.keys():
        plain = node.copy()
        options = [
            option for option in plain.this.expressions if option.find(exp.Struct) is None
        ]  # without the types of folders
        plain.this.set(
            "expressions",
            [*options, exp.EQ(this=exp.column("hive_partitioning"), expression=exp.false())],
        )
        in_files = {
            name.lower()
            for name in describe_columns(connection, exp.select("*").from_(plain).sql("duckdb"))
        }
        for key in keys & in_files:
            problems[lowered[key]] = ColumnProblem(
                f"{role}: {lowered[key]} is a column of the files and of their folders ({key}=...)."
                " Rename one of them, or give a query"
            )
    return problems


def _own_names(connection: duckdb.DuckDBPyConnection, node: exp.Expr, path: str) -> list[str]:
    """Return the names of columns as a source has them, before DuckDB numbers those of one name."""
    if isinstance(node, exp.Subquery):
        return list(describe_columns(connection, node.this.sql("duckdb")))
    if node.find(exp.ReadParquet):
        from pyarrow import parquet  # few files need it

        return list(parquet.read_schema(path).names)
    is_json = any(call.name.upper() == JSON_READER for call in node.find_all(exp.Anonymous))
    if not is_json and not node.find(exp.ReadCSV):
        return []
    query = load_select("inputs", "json_keys.sql" if is_json else "csv_header.sql")
    rows = fetch_tuples(connection, exp.replace_placeholders(query, path=path).sql("duckdb"))
    return [str(name) for row in rows for name in row]
