"""Adapt database drivers (Arrow results, column types), and infer the SQL dialect of any
connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrank.arrow_arrays import to_array
from sqlrank.errors import InputError
from sqlrank.rendering.dialects import DIALECTS, get_dialect, normalize_dialect


class DriverAdapter(NamedTuple):
    """Adapter of a database driver.

    Attributes:
        dialect: SQL dialect, None if it depends on the connection.
        required_method: Method that a connection must have.
        fetch_arrow: Runs a query and returns an Arrow table.
        describe: Runs a query and returns its column names with types: an Arrow type, a type name
            of the dialect, or any other object if unknown.
    """

    dialect: str | None
    required_method: str
    fetch_arrow: Callable[[Any, str], pa.Table]
    describe: Callable[[Any, str], Iterable[tuple[str, Any]]]


def normalize_result(table: pa.Table, types: Mapping[str, pa.DataType | None]) -> pa.Table:
    """Normalize column names and types of a result to those that DuckDB returns.

    ``types`` are the types by column name, None for columns of the inputs.
    """
    columns = []
    for column, arrow_type in zip(table.columns, types.values(), strict=True):
        columns.append(_normalize_column(column) if arrow_type is None else column.cast(arrow_type))
    return pa.table(columns, names=list(types))


def _normalize_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Normalize a column: whole decimals to integers, dictionaries and string views to plain
    values.
    """
    arrow_type = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_decimal(arrow_type) and arrow_type.scale == 0:
        arrow_type = pa.int64()
    elif pa.types.is_string_view(arrow_type) or pa.types.is_large_string(arrow_type):
        arrow_type = pa.string()
    return column.cast(arrow_type)


class TimeRangeError(InputError):
    """A day or time that Python does not hold, such as infinity or the year 20000, in a column of a
    result.
    """

    def __init__(self, column: str, advice: str) -> None:
        super().__init__(
            f"column {column!r} has a day or time that Python does not hold, such as infinity or a"
            f" part of a microsecond. {advice}"
        )
        self.column = column


def check_times(table: pa.Table) -> pa.Table:
    """Return a table; raise ``TimeRangeError`` for a day or time that Python does not hold, which
    every reader of it would meet.
    """
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_temporal(field.type):
            try:
                column.to_pylist()
            except (ValueError, OverflowError):
                raise TimeRangeError(
                    field.name,
                    f"Read it as a text, CAST({exp.to_identifier(field.name).sql()} AS VARCHAR), in"
                    " a query",
                ) from None
    return table


def _cursor_table(connection: Any, text: str) -> pa.Table:
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)
        if (table := _fetch_arrow(cursor)) is not None:
            return table
        names = [column[0] for column in cursor.description]
        rows = [
            tuple(row.values() if isinstance(row, Mapping) else row) for row in cursor.fetchall()
        ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return pa.table([_build_array(list(column)) for column in columns], names=names)


def _cursor_columns(connection: Any, text: str) -> list[tuple[str, Any]]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)
        if (table := _fetch_arrow(cursor)) is not None:
            return _list_fields(table)
        return [(name, code) for name, code, *_ in cursor.description]


def _fetch_arrow(cursor: Any) -> pa.Table | None:
    """Fetch a cursor's rows as an Arrow table if its driver supports it.

    ADBC, Databricks and Snowflake have methods of their own.
    """
    for method, arguments in (
        ("fetch_arrow_table", {}),
        ("fetchall_arrow", {}),
        ("fetch_arrow_all", {"force_return_table": True}),
    ):
        if hasattr(cursor, method):
            table: pa.Table = getattr(cursor, method)(**arguments)
            return table
    return None


def _build_array(values: list[Any]) -> pa.Array:
    try:
        return to_array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # such as a UUID
        return pa.array([None if value is None else str(value) for value in values])


def _list_fields(table: pa.Table) -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in table.schema]


def _spark_table(spark: Any, text: str) -> pa.Table:
    return spark.sql(text).toArrow()


def _spark_columns(spark: Any, text: str) -> list[tuple[str, Any]]:
    return [(field.name, field.dataType.simpleString()) for field in spark.sql(text).schema]


def _chdb_table(chdb: Any, text: str) -> pa.Table:
    return pa.ipc.open_file(chdb.query(text, "Arrow").bytes()).read_all()


def _chdb_columns(chdb: Any, text: str) -> list[tuple[str, Any]]:
    return _list_fields(_chdb_table(chdb, text))


def _datafusion_table(context: Any, text: str) -> pa.Table:
    return context.sql(text).to_arrow_table()


def _datafusion_columns(context: Any, text: str) -> list[tuple[str, Any]]:
    return [(field.name, field.type) for field in context.sql(text).schema()]


DBAPI_ADAPTER = DriverAdapter(None, "cursor", _cursor_table, _cursor_columns)
_ADAPTERS = {
    "chdb": DBAPI_ADAPTER._replace(
        required_method="query", fetch_arrow=_chdb_table, describe=_chdb_columns
    ),
    "datafusion": DBAPI_ADAPTER._replace(
        required_method="sql", fetch_arrow=_datafusion_table, describe=_datafusion_columns
    ),
    "pyspark": DBAPI_ADAPTER._replace(
        required_method="sql", fetch_arrow=_spark_table, describe=_spark_columns
    ),
}
"""Adapters by the package of the connection's class, of those without cursors."""


@cache
def _list_drivers() -> dict[str, str]:
    """Return dialects by the package of the connection's class."""
    return {package: name for name, dialect in DIALECTS.items() for package in dialect.drivers}


def adapter_for(connection: Any) -> DriverAdapter | None:
    """Return the adapter of a connection, None if it is not a connection."""
    packages = [base.__module__.partition(".")[0] for base in type(connection).__mro__]
    package = next((package for package in packages if package in _list_drivers()), "")
    adapter = _ADAPTERS.get(package, DBAPI_ADAPTER)._replace(dialect=_list_drivers().get(package))
    if not hasattr(connection, adapter.required_method):
        return None
    if hasattr(connection, "adbc_get_info"):
        vendor = str(connection.adbc_get_info().get("vendor_name", "")).lower()
        dialect = normalize_dialect(vendor)
        return adapter._replace(dialect=dialect if dialect in DIALECTS else None)
    return adapter


def to_row_tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a small result as tuples."""
    return list(
        zip(*(_normalize_column(column).to_pylist() for column in table.columns), strict=True)
    )


def to_duckdb_type(engine_type: Any, dialect: str) -> str:
    """Return the DuckDB name of a type, empty if unknown."""
    try:
        if isinstance(engine_type, pa.DataType):
            with closing(duckdb.connect()) as local:
                return str(local.from_arrow(pa.schema([("c", engine_type)]).empty_table()).types[0])
        if isinstance(engine_type, str):
            return str(
                duckdb.sqltype(
                    exp.DataType.build(engine_type, dialect=get_dialect(dialect).sqlglot_name).sql(
                        "duckdb"
                    )
                )
            )
    except (SqlglotError, duckdb.Error):
        return str(engine_type).upper()
    return ""


def is_duckdb_connection(connection: Any) -> bool:
    """Return True for a DuckDB connection, the path of a DuckDB file, or None."""
    return connection is None or isinstance(connection, (str, Path, duckdb.DuckDBPyConnection))


def infer_dialect(connection: Any, dialect: str | None) -> str:
    """Infer the SQL dialect of a connection; ``dialect`` overrides it."""
    if dialect is not None:
        get_dialect(dialect)
    if is_duckdb_connection(connection):
        if dialect not in {None, "duckdb"}:
            raise InputError(
                f"dialect={dialect!r} is not DuckDB's dialect. Give connection= to a database of"
                " that dialect"
            )
        return "duckdb"
    adapter = adapter_for(connection)
    if adapter is None:
        raise InputError(
            f"cannot connect to a {type(connection).__name__}. Give a DuckDB connection or the path"
            " of a DuckDB file, a PEP 249 or ADBC connection, a SparkSession, a chdb session or a"
            " DataFusion context"
        )
    inferred = dialect or adapter.dialect
    if inferred is None:
        connection_class = f"{type(connection).__module__}.{type(connection).__name__}"
        raise InputError(
            f"the SQL dialect of a {connection_class} is unknown. Name it with dialect=, one of:"
            f" {', '.join(DIALECTS)}"
        )
    return inferred
