"""Kinds of connections, and what they return made the same: Arrow tables with the types that DuckDB gives a result.

A connection is known by the package of its class. No driver is imported here: the object that is given brings its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrank.engines.dialects import DIALECTS, dialect_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Kind(NamedTuple):
    """A kind of connection: what it speaks, how it answers a text, and the columns of a query that it names with their types.

    A type is that of Arrow, the name it has in the dialect, or anything else if it cannot be told. What has no attribute
    ``needed`` is no connection.
    """

    dialect: str | None
    needed: str
    table: Callable[[Any, str], pa.Table]
    columns: Callable[[Any, str], Iterable[tuple[str, Any]]]


def as_from_duckdb(table: pa.Table, kinds: Mapping[str, pa.DataType | None]) -> pa.Table:
    """Return a result under the names and with the types that DuckDB gives it, whatever an engine makes of them.

    ``kinds`` are the types of its columns by their names, None for those of the inputs.
    """
    columns = []
    for column, kind in zip(table.columns, kinds.values(), strict=True):
        columns.append(_plain(column) if kind is None else column.cast(kind))
    return pa.table(columns, names=list(kinds))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return whole numbers as integers and texts as strings, though an engine has decimals, dictionaries or views of them."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_decimal(kind) and kind.scale == 0:
        kind = pa.int64()
    elif pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        kind = pa.string()
    return column.cast(kind)


def _cursor_table(connection: Any, text: str) -> pa.Table:
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)
        if (table := _arrow(cursor)) is not None:
            return table
        names = [column[0] for column in cursor.description]
        rows = [tuple(row.values() if isinstance(row, Mapping) else row) for row in cursor.fetchall()]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return pa.table([_array(list(column)) for column in columns], names=names)


def _cursor_columns(connection: Any, text: str) -> list[tuple[str, Any]]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)
        if (table := _arrow(cursor)) is not None:
            return _fields(table)
        return [(name, code) for name, code, *_ in cursor.description]


def _arrow(cursor: Any) -> pa.Table | None:
    """Return the rows of a cursor as a table, if it can: ADBC, Databricks and Snowflake have a method of their own."""
    for method, arguments in (("fetch_arrow_table", {}), ("fetchall_arrow", {}), ("fetch_arrow_all", {"force_return_table": True})):
        if hasattr(cursor, method):
            table: pa.Table = getattr(cursor, method)(**arguments)
            return table
    return None


def _array(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # such as a UUID
        return pa.array([None if value is None else str(value) for value in values])


def _fields(table: pa.Table) -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in table.schema]


def _spark_table(spark: Any, text: str) -> pa.Table:
    return spark.sql(text).toArrow()


def _spark_columns(spark: Any, text: str) -> list[tuple[str, Any]]:
    return [(field.name, field.dataType.simpleString()) for field in spark.sql(text).schema]


def _chdb_table(chdb: Any, text: str) -> pa.Table:
    return pa.ipc.open_file(chdb.query(text, "Arrow").bytes()).read_all()


def _chdb_columns(chdb: Any, text: str) -> list[tuple[str, Any]]:
    return _fields(_chdb_table(chdb, text))


def _datafusion_table(context: Any, text: str) -> pa.Table:
    return context.sql(text).to_arrow_table()


def _datafusion_columns(context: Any, text: str) -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in context.sql(text).schema()]


CURSOR = Kind(None, "cursor", _cursor_table, _cursor_columns)
_KINDS = {
    "chdb": Kind("clickhouse", "query", _chdb_table, _chdb_columns),
    "datafusion": Kind("datafusion", "sql", _datafusion_table, _datafusion_columns),
    "pyspark": Kind("spark", "sql", _spark_table, _spark_columns),
    **{
        package: CURSOR._replace(dialect=dialect)
        for package, dialect in {
            "clickhouse_connect": "clickhouse",
            "clickhouse_driver": "clickhouse",
            "databricks": "databricks",
            "google": "bigquery",
            "pg8000": "postgres",
            "psycopg": "postgres",
            "psycopg2": "postgres",
            "redshift_connector": "redshift",
            "snowflake": "snowflake",
            "sqlite3": "sqlite",
            "trino": "trino",
        }.items()
    },
}
"""Kinds of connections, by the package that their class is of."""

_VENDORS = {"postgresql": "postgres"}
"""Dialects of the vendors that ADBC knows under another name."""


def kind_of(connection: Any) -> Kind | None:
    """Return the kind of a connection, None for what is none."""
    packages = [base.__module__.partition(".")[0] for base in type(connection).__mro__]
    kind = next((_KINDS[package] for package in packages if package in _KINDS), CURSOR)
    if not hasattr(connection, kind.needed):
        return None
    if hasattr(connection, "adbc_get_info"):
        vendor = str(connection.adbc_get_info().get("vendor_name", "")).lower()
        dialect = _VENDORS.get(vendor, vendor)
        return kind._replace(dialect=dialect if dialect in DIALECTS else None)
    return kind


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a small result."""
    return list(zip(*(_plain(column).to_pylist() for column in table.columns), strict=True))


def duckdb_type(kind: Any, dialect: str) -> str:
    """Return what DuckDB calls a type, an empty string if it cannot be told."""
    try:
        if isinstance(kind, pa.DataType):
            with closing(duckdb.connect()) as local:
                return str(local.from_arrow(pa.schema([("c", kind)]).empty_table()).types[0])
        if isinstance(kind, str):
            return str(duckdb.sqltype(exp.DataType.build(kind, dialect=dialect_of(dialect).writer).sql("duckdb")))
    except (SqlglotError, duckdb.Error):
        return str(kind).upper()
    return ""
