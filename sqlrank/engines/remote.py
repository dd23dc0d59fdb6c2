"""Evaluate on a database other than DuckDB, through whatever connection to it the caller has; nothing is uploaded."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing, contextmanager, suppress
from functools import partial
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank.engines.connections import CURSOR, duckdb_type, kind_of, tuples
from sqlrank.engines.database import Database, Table
from sqlrank.engines.dialects import DIALECTS, dialect_of
from sqlrank.engines.names import table_named
from sqlrank.engines.render import write
from sqlrank.errors import ExecutionError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlrank.engines.duckdb import Limits


def is_duckdb(connection: Any) -> bool:
    """Whether this is a connection to DuckDB, the path of a DuckDB file, or none."""
    return connection is None or isinstance(connection, (str, Path, duckdb.DuckDBPyConnection))


def spoken_by(connection: Any, dialect: str | None) -> str:
    """Return the SQL that a connection speaks; ``dialect`` names it where the connection does not tell."""
    if dialect is not None:
        dialect_of(dialect)
    if is_duckdb(connection):
        if dialect not in {None, "duckdb"}:
            raise InputError(f"dialect={dialect!r} is not what DuckDB speaks; give connection= to a database that does")
        return "duckdb"
    kind = kind_of(connection)
    if kind is None:
        raise InputError(
            f"cannot connect to a {type(connection).__name__}; give a DuckDB connection or the path of a DuckDB file, "
            "a PEP 249 or ADBC connection, a SparkSession, a chdb session or a DataFusion context"
        )
    inferred = dialect or kind.dialect
    if inferred is None:
        there = f"{type(connection).__module__}.{type(connection).__name__}"
        raise InputError(f"cannot tell which SQL a {there} speaks; name it with dialect=, one of: {', '.join(DIALECTS)}")
    return inferred


def refuse_limits(limits: Limits, dialect: str) -> None:
    """Raise ``InputError`` for a limit, which could hold in this process only."""
    for name, value in vars(limits).items():
        if value is not None:
            raise InputError(f"{name}={value!r} is not possible on {dialect}: the statement runs there; set a limit on the connection")


@contextmanager
def session(connection: Any, dialect: str) -> Iterator[Database]:
    """Yield a connection as what a call works on.

    A transaction of PostgreSQL that is under way stays usable when a statement fails, but for one of ADBC.
    """
    kind = kind_of(connection) or CURSOR
    if isinstance(connection, sqlite3.Connection):
        try:
            _add_functions(connection)
        except sqlite3.Error as error:
            raise InputError(f"this connection cannot be used now: {_first_line(error)}") from None
    is_marked = dialect == "postgres" and _mark(connection)

    def ask(question: Callable[[Any, str], Any], text: str) -> Any:
        try:
            return question(connection, text)
        except Exception as error:
            if is_marked:
                _execute(connection, "ROLLBACK TO SAVEPOINT sqlrank")
            raise ExecutionError(f"{dialect}: {_first_line(error)}") from error

    def fetch(text: str) -> list[tuple[Any, ...]]:
        return tuples(ask(kind.table, text))

    def types(query: exp.Query) -> dict[str, str]:
        nothing = exp.select("*").from_(query.copy().subquery("described")).where("1 = 0")
        found = dict(ask(kind.columns, write(nothing, dialect)))
        if dialect in _TYPES:
            columns = [exp.column(exp.Identifier(this=name, quoted=True), table="described") for name in found]
            found = dict(zip(found, fetch(write(_TYPES[dialect](query, columns), dialect))[0], strict=True))
        return {name: duckdb_type(kind, dialect) for name, kind in found.items()}

    try:
        keeps = _has_setting(dialect_of(dialect).keeping, fetch)
        yield Database(
            dialect, lambda role, source: _find(types, dialect, role, source), lambda text: ask(kind.table, text), fetch, types, keeps
        )
    finally:
        # A connection that broke must not hide why.
        with suppress(Exception):
            if is_marked:
                _execute(connection, "RELEASE SAVEPOINT sqlrank")


def _has_setting(name: str | None, fetch: Callable[[str], list[tuple[Any, ...]]]) -> bool:
    """Whether a server has a setting, which ClickHouse refuses to be told where it does not."""
    if name is None:
        return False
    query = exp.select("name").from_("system.settings").where(exp.EQ(this=exp.column("name"), expression=exp.Literal.string(name)))
    return bool(fetch(write(query, "clickhouse")))


def _find(types: Callable[[exp.Query], dict[str, str]], dialect: str, role: str, source: Any) -> Table:
    """Resolve a source: the name of a table there, as it is written or else with each part quoted."""
    if not isinstance(source, (str, Path)):
        raise InputError(f"{role}: a {type(source).__name__} is not on {dialect}, and nothing is uploaded; give the name of a table there")
    written = table_named(role, source, dialect)
    quoted = written.copy()
    for part in quoted.parts:
        part.set("quoted", True)  # noqa: FBT003  sqlglot's flag
    problems = []
    for table in (written, quoted):
        node = exp.alias_(table, "given", table=True)
        try:
            found = types(exp.select("*").from_(node.copy()))
            return Table(str(source), node, found, dialect, has_collations=dialect == "postgres")
        except ExecutionError as error:
            problems.append(error)
    raise InputError(f"{role}: cannot read {source}: {problems[0]}") from problems[0]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _execute(connection: Any, text: str) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)


def _mark(connection: Any) -> bool:
    """Set a savepoint; without a transaction there can be none, and none is needed."""
    if hasattr(connection, "adbc_get_info"):  # the driver refuses every statement after one that failed, until all is rolled back
        return False
    with suppress(Exception):
        _execute(connection, "SAVEPOINT sqlrank")
        return True
    return False


def _add_functions(connection: sqlite3.Connection) -> None:
    """Give SQLite the functions of statements that it was built without."""
    for name, function in (("ln", math.log), ("exp", math.exp), ("sqrt", math.sqrt), ("floor", math.floor), ("md5", _md5)):
        try:
            connection.execute(f"SELECT {name}(1)")
        except sqlite3.OperationalError:
            connection.create_function(name, 1, partial(_of_value, function), deterministic=True)


def _of_value(function: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else function(value)


def _md5(text: Any) -> str:
    return md5(str(text).encode(), usedforsecurity=False).hexdigest()


def _types_on_postgres(query: exp.Query, columns: Sequence[exp.Column]) -> exp.Select:
    """Ask for the types of columns, which drivers know as numbers."""
    names = (exp.cast(exp.Anonymous(this="PG_TYPEOF", expressions=[column]), "TEXT") for column in columns)
    nothing = exp.select("*").from_(query.copy().subquery("described")).where("1 = 0")
    return (
        exp.select(*names).from_(exp.select("1 AS one").subquery("one")).join(nothing.subquery("described"), on="1 = 1", join_type="left")
    )


def _types_on_sqlite(query: exp.Query, columns: Sequence[exp.Column]) -> exp.Select:
    """Ask for the types of values, since columns have none: one text makes a column of texts."""
    kinds = (exp.func("NULLIF", exp.Anonymous(this="TYPEOF", expressions=[column]), exp.Literal.string("null")) for column in columns)
    return exp.select(*(exp.Max(this=kind) for kind in kinds)).from_(query.copy().subquery("described"))


_TYPES = {"postgres": _types_on_postgres, "sqlite": _types_on_sqlite}
"""The query for the types of columns, where drivers do not tell."""
