"""Run sessions on databases other than DuckDB, on the user's connection, and give SQLite the
functions that it lacks.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import cache, cached_property, partial
from hashlib import md5
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrank.arrow_arrays import to_array
from sqlrank.call.sources import QuerySource, TemporaryView, source_kind
from sqlrank.engines.database import Database, find_shadowed, normalize_column
from sqlrank.engines.query_sources import parse_query, refuse_random_numbers, require_table_name
from sqlrank.engines.source_tables import DeclaredColumns, SourceTable
from sqlrank.errors import ExecutionError, InputError, first_line
from sqlrank.rendering.dialects import DIALECTS, get_dialect, normalize_dialect
from sqlrank.rendering.renderer import to_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlrank.call.request import ResourceLimits


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
    announce_compilation()
    return spark.sql(text).toArrow()


@cache
def announce_compilation() -> None:
    """Say once what a call waits for, in a terminal or notebook: no later statement takes so long
    on as few rows.
    """
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        sys.stderr.write(
            "sqlrank: Spark plans and compiles its first statements, for seconds to a minute,"
            " however few the rows\n"
        )


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
        zip(*(normalize_column(column).to_pylist() for column in table.columns), strict=True)
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


def printed_dialect(connection: Any, dialect: str | None) -> str:
    """Return the dialect of a printed statement: that of its connection, else the one that is
    named, or DuckDB's.
    """
    if connection is not None:
        return infer_dialect(connection, dialect)
    name = dialect or "duckdb"
    get_dialect(name)
    return name


def check_no_limits(limits: ResourceLimits, dialect: str) -> None:
    """Check that no resource limits are set, because they only apply to this process."""
    for name, value in vars(limits).items():
        if value is not None:
            raise InputError(
                f"{name}={value!r} is not possible on {dialect}: the statement runs there. Set a"
                " limit on the connection"
            )


class RemoteDatabase(Database):
    """A session on the connection of another database; ``close`` ends it and leaves the connection
    open.

    A savepoint keeps an open transaction of PostgreSQL usable after a failed statement, except
    through ADBC. ``is_inspected`` marks a session for a statement that is printed, and read after
    the call.
    """

    def __init__(self, connection: Any, dialect: str, is_inspected: bool = False) -> None:
        super().__init__(dialect)
        self._is_inspected = is_inspected
        self._connection = connection
        self._adapter = adapter_for(connection) or DBAPI_ADAPTER
        self._own_functions = _FUNCTIONS if isinstance(connection, sqlite3.Connection) else {}
        if self._own_functions:
            try:
                _register_sqlite_functions(connection)
            except sqlite3.Error as error:
                raise InputError(
                    f"this connection cannot be used now: {first_line(error)}"
                ) from None
        record = get_dialect(dialect)
        self._has_savepoint = record.uses_savepoints and _set_savepoint(connection)
        self._restore = ""
        if setting := record.disabled_setting:
            is_local = str(self._has_savepoint).upper()
            change = f"SELECT SET_CONFIG('{setting}', '{{}}', {is_local})"
            is_on = f"CURRENT_SETTING('{setting}', TRUE) = 'on'"
            if self._fetch_rows(f"{change.format('off')} WHERE {is_on}"):
                self._restore = change.format("on")

    def close(self) -> None:
        """Restore the setting that was changed, and release the savepoint."""
        # A broken connection must not hide the original error.
        with suppress(Exception):
            if self._restore:
                _execute_statement(self._connection, self._restore)
            if self._has_savepoint:
                _execute_statement(self._connection, "RELEASE SAVEPOINT sqlrank")

    @cached_property
    def can_materialize_ctes(self) -> bool:
        """True if a setting makes the server compute shared CTEs once."""
        query = get_dialect(self.dialect).materialization_query
        return query is not None and bool(self._fetch_rows(to_sql(query, self.dialect)))

    @cached_property
    def shadowed(self) -> Mapping[str, str]:
        """User-defined functions, by name, that would be called instead of built-in ones."""
        shadowed = find_shadowed(self.dialect, self._fetch_rows)
        return {
            name: full_name
            for name, full_name in shadowed.items()
            if name not in self._own_functions
        }

    # Of text files alone
    def _resolve_source(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:  # noqa: ARG002
        """Resolve a source: a table name as written, or with each part quoted."""
        if isinstance(source, QuerySource):
            return self._resolve_query(role, source)
        if not isinstance(source, (str, Path)):
            raise InputError(
                f"{role}: a {source_kind(source)} is not on {self.dialect}, and nothing is"
                " uploaded. Give the name of a table there, or bring the other sources here as"
                " Arrow tables"
            )
        if isinstance(source, TemporaryView) and self._is_inspected:
            raise InputError(
                f"{role}: a {source.kind} has no name that a printed statement could read. Make a"
                f" view of it, such as frame.createOrReplaceTempView({role!r}), and give its name"
            )
        table_name = require_table_name(role, source, self.dialect)
        quoted = table_name.copy()
        for part in quoted.parts:
            part.set("quoted", True)  # noqa: FBT003  sqlglot's flag
        problems = []
        for table in (table_name, quoted):
            node = table.as_("given", table=True)
            try:
                column_types = self._describe_query(exp.select("*").from_(node.copy()))
                label = source_kind(source) if isinstance(source, TemporaryView) else str(source)
                return SourceTable(
                    label,
                    node,
                    column_types,
                    self.dialect,
                    has_collations=get_dialect(self.dialect).supports_collations,
                )
            except ExecutionError as error:
                problems.append(error)
        raise InputError(
            f"{role}: cannot read {source}: {first_line(problems[0].__cause__ or problems[0])}"
        ) from problems[0]

    def _resolve_query(self, role: str, source: QuerySource) -> SourceTable:
        """Resolve a query, which is computed where it is: no table is made of its rows."""
        node = parse_query(role, source, self.dialect)
        refuse_random_numbers(role, node, self.dialect)
        try:
            column_types = self._describe_query(exp.select("*").from_(node.copy()))
        except ExecutionError as error:
            raise InputError(
                f"{role}: the query failed: {first_line(error.__cause__ or error)}"
            ) from error
        collations = get_dialect(self.dialect).supports_collations
        return SourceTable(
            "a query",
            node,
            column_types,
            self.dialect,
            has_row_count=False,
            has_collations=collations,
        )

    def _fetch_arrow(self, text: str) -> pa.Table:
        return self._call_driver(self._adapter.fetch_arrow, text)

    def _fetch_rows(self, text: str) -> list[tuple[Any, ...]]:
        return to_row_tuples(self._fetch_arrow(text))

    def _describe_query(self, query: exp.Query) -> dict[str, str]:
        nothing = exp.select("*").from_(query.copy().subquery("described")).where("1 = 0")
        column_types = dict(
            self._call_driver(self._adapter.describe, to_sql(nothing, self.dialect))
        )
        if (select_types := get_dialect(self.dialect).type_query) is not None:
            columns = [
                exp.column(exp.Identifier(this=name, quoted=True), table="described")
                for name in column_types
            ]
            type_query = to_sql(select_types(query, columns), self.dialect)
            column_types = dict(zip(column_types, self._fetch_rows(type_query)[0], strict=True))
        return {
            name: to_duckdb_type(engine_type, self.dialect)
            for name, engine_type in column_types.items()
        }

    def _call_driver(self, driver_method: Callable[[Any, str], Any], text: str) -> Any:
        """Call a method of the driver, and translate its errors."""
        try:
            return driver_method(self._connection, text)
        except Exception as error:
            if self._has_savepoint:
                _execute_statement(self._connection, "ROLLBACK TO SAVEPOINT sqlrank")
            raise ExecutionError(
                f"the statement failed in {self.dialect}: {first_line(error)}"
            ) from error


def _execute_statement(connection: Any, text: str) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)


_IDLE = 0
"""Status of connections of psycopg and psycopg2 outside of a transaction."""


def _set_savepoint(connection: Any) -> bool:
    """Set a savepoint, and return False outside of a transaction."""
    if hasattr(
        connection, "adbc_get_info"
    ):  # after a failed statement the driver rejects all others until a complete rollback
        return False
    if getattr(connection, "autocommit", False) and (
        getattr(getattr(connection, "info", None), "transaction_status", None) == _IDLE
    ):  # the server would log an error
        return False
    with suppress(Exception):
        _execute_statement(connection, "SAVEPOINT sqlrank")
        return True
    return False


def _register_sqlite_functions(connection: sqlite3.Connection) -> None:
    """Register functions that SQLite was built without.

    Raises:
        InputError: A user-defined function of that name gives other values.
    """
    cursor = connection.cursor()
    cursor.row_factory = None
    for name, (function, *calls) in _FUNCTIONS.items():
        num_arguments = len(calls[0])
        call = f"{name}({', '.join('?' * num_arguments)})"
        try:
            results = cursor.execute(
                f"SELECT {', '.join([call] * len(calls))}", [*chain(*calls)]
            ).fetchone()
        except sqlite3.OperationalError:
            connection.create_function(
                name, num_arguments, partial(_apply_unless_null, function), deterministic=True
            )
            continue
        for arguments, result in zip(calls, results, strict=True):
            if not _is_same(result, function(*arguments)):
                argument_text = ", ".join(map(repr, arguments))
                raise InputError(
                    f"the function {name} of this connection gives {name}({argument_text}) ="
                    f" {result!r}, not {function(*arguments)!r}. Drop or rename it, or use a"
                    " connection that does not have it"
                )


def _is_same(result: Any, expected: Any) -> bool:
    """Return True if a function gives the expected value and type: an integer would be divided
    without a remainder.
    """
    is_close = (
        math.isclose(result, expected, rel_tol=1e-12)
        if isinstance(result, float) and isinstance(expected, float)
        else False
    )
    return type(result) is type(expected) and (is_close or result == expected)


def _round_down(value: Any) -> Any:
    """Return the floor of a number as SQLite does: an integer stays one, and a double gives a
    double.
    """
    return value if isinstance(value, int) else float(math.floor(value))


def _apply_unless_null(function: Callable[..., Any], *arguments: Any) -> Any:
    return None if None in arguments else function(*arguments)


def _hash_text(text: Any) -> str:
    return md5(str(text).encode(), usedforsecurity=False).hexdigest()


def list_words(text: str) -> str:
    """Return the runs of letters and digits of a text in lower case, as a JSON array."""
    return json.dumps(re.findall(r"[^\W_]+", text.lower()))


_FUNCTIONS: dict[str, tuple[Callable[..., Any], *tuple[tuple[Any, ...], ...]]] = {
    "ln": (math.log, (1e-300,), (1e300,)),
    "exp": (math.exp, (-700.0,), (700.0,)),
    "sqrt": (math.sqrt, (1e-300,), (1e300,)),
    "power": (math.pow, (3, 11), (0.5, 2)),
    "floor": (_round_down, (-1.5,), (2.5,)),
    "md5": (_hash_text, ("a",)),
    "list_words": (list_words, ("A b",)),
}
"""Functions that SQLite may lack, with arguments whose values detect other definitions of users."""
