"""Open or reserve a DuckDB connection for a call, set and restore limits and settings, translate errors, and run small queries."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.engines.duckdb_pool import NO_EXTENSION_CONFIG, TIME_ZONE, pooled_connection
from sqlrank.engines.duckdb_settings import restore_setting, set_setting
from sqlrank.engines.file_sources import reader_function
from sqlrank.engines.resource_limits import ResourceLimits, engine_memory_limit
from sqlrank.engines.spill_directory import make_spill_directory
from sqlrank.engines.worker_threads import Worker, is_worked_on, make_fork_safe_lock
from sqlrank.errors import ExecutionError, InputError, SqlrankError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator


SEMANTIC_SETTINGS = {
    "default_order": "ASCENDING",
    "default_null_order": "NULLS_LAST",
    "integer_division": False,
    "default_collation": "",
    "python_enable_replacements": False,
}
"""Settings of a user's connection that would change the meaning of a statement."""
_OUT_OF_MEMORY_ADVICE = "Give more with memory_limit, fewer threads, or a temp_directory on a larger disk"
_ENDED = "DuckDB has ended the open transaction of your connection by this error: call rollback(). What was not committed is lost."
_ADDRESS = re.compile(r"[a-z][\w+.-]+:/", re.IGNORECASE)
_LOCK = re.compile(r'lock on file "(?P<file>[^"]*)"(?:.* held in (?:\S*/)?(?P<program>[^\s/]+) \(PID (?P<id>\d+)\))?')
_OPTIONAL = {"enable_progress_bar", "enable_progress_bar_print", "python_enable_replacements"}
"""Settings that are left as they are where the configuration is locked."""
_CLAIMED: set[int] = set()
_CLAIM_LOCK = make_fork_safe_lock()


@contextmanager
def translate_duckdb_errors() -> Iterator[None]:
    """Translate errors of DuckDB to ``ExecutionError``, with the original as the cause."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise ExecutionError(f"out of memory: {first_line(error)}. {_OUT_OF_MEMORY_ADVICE}") from error
    except duckdb.Error as error:
        raise ExecutionError(f"the statement failed in DuckDB: {explain_duckdb_error(error)}") from error


def explain_duckdb_error(error: duckdb.Error) -> str:
    """Return the first line of an error of DuckDB; if another process has the file open, name the process and the remedy."""
    if (lock := _LOCK.search(str(error))) is None:
        return first_line(error)
    process = f" ({lock['program']}, PID {lock['id']})" if lock["program"] else ""
    return f"another process{process} has {lock['file']!r} open. Close it there, open it there read-only to read it here, or give a copy"


@contextmanager
def duckdb_session(  # noqa: C901  one branch per way to end
    connection: Any, limits: ResourceLimits, has_progress: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a DuckDB connection under limits: the user's, a file opened read-only, or in memory.

    Settings of the user's connection are restored at the end, and the spill directory is removed.

    Raises:
        InputError: The connection cannot be used now, or a setting is invalid.
    """
    if connection is None and limits == ResourceLimits(threads=limits.threads) and not has_progress:
        with pooled_connection(limits.threads) as spare, translate_duckdb_errors():
            yield spare
        return
    owned = not isinstance(connection, duckdb.DuckDBPyConnection)
    if not owned:
        claim_connection(connection)
    database = _open_connection(connection) if owned else connection
    spill = make_spill_directory() if limits.temp_directory is None and owned else None
    settings = {
        "memory_limit": engine_memory_limit(limits.memory_limit),
        "threads": limits.threads,
        "temp_directory": spill or (str(limits.temp_directory) if limits.temp_directory else None),
        "preserve_insertion_order": False if owned else None,
        "TimeZone": TIME_ZONE if owned else None,
        "enable_progress_bar_print": False if has_progress else None,
        "enable_progress_bar": has_progress,
        **SEMANTIC_SETTINGS,
    }
    previous: dict[str, Any] = {}

    def clear_session() -> None:
        if owned:
            database.close()
        else:
            try:
                for name, value in previous.items():
                    restore_setting(database, name, value)
            finally:
                release_connection(database)
        if spill:
            shutil.rmtree(spill, ignore_errors=True)

    try:
        requested = {name: value for name, value in settings.items() if value is not None}
        with translate_duckdb_errors():
            current_values = fetch_tuples(database, f"SELECT {', '.join(['current_setting(?)'] * len(requested))}", list(requested))[0]
        for (name, value), current in zip(requested.items(), current_values, strict=True):
            if str(current).lower() != str(value).lower():
                previous[name] = current
                with suppress(InputError) if name in _OPTIONAL else nullcontext():
                    set_setting(database, name, value)
        with translate_duckdb_errors():
            yield database
    except BaseException as error:
        if is_worked_on(database):
            Worker(clear_session).start()
            raise
        is_aborted = not owned and _is_aborted(database)
        clear_session()
        if is_aborted:
            _raise_with_note(error, _ENDED + (f" Set {', '.join(previous)} again then." if previous else ""))
        raise
    clear_session()


def _is_aborted(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return True if an error has ended the open transaction of a connection."""
    try:
        connection.execute("SELECT 1").fetchall()  # fetchall, because an unfinished result would block the next statement
    except duckdb.TransactionException:
        return True
    except duckdb.Error:
        return False
    return False


def _raise_with_note(error: BaseException, note: str) -> None:
    """Raise an error of this package again with a further sentence.

    The sentence is added as a note to all other errors.
    """
    if isinstance(error, SqlrankError):
        raise type(error)(*error.args, note) from error.__cause__ or error
    error.add_note(note)


def claim_connection(connection: duckdb.DuckDBPyConnection) -> None:
    """Reserve a connection for one call, because concurrent calls may receive each other's rows.

    Raises:
        ExecutionError: Another call uses the connection.
        InputError: It is closed, or has rows that the user has not fetched; ``sql`` detects these, whereas ``execute`` discards them.
    """
    with _CLAIM_LOCK:
        if id(connection) in _CLAIMED:
            raise ExecutionError(
                "connection: another call is using this DuckDB connection, which serves one at a time. Give each thread a connection of its "
                "own, connection=con.cursor(), which does not see temporary tables"
            )
        _CLAIMED.add(id(connection))
    try:
        connection.sql("SELECT 1").fetchall()
    except duckdb.Error as error:
        release_connection(connection)
        problem = first_line(error)
        if "unfinished result" in problem:
            problem += ". Fetch all its rows (fetchall), or give connection=con.cursor(), which does not see temporary tables"
        raise InputError(f"this connection cannot be used now: {problem}") from None


@contextmanager
def claim_during(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Reserve a connection, and release it at the end."""
    claim_connection(connection)
    try:
        yield
    finally:
        release_connection(connection)


def release_connection(connection: duckdb.DuckDBPyConnection) -> None:
    """Release a connection for other calls."""
    with _CLAIM_LOCK:
        _CLAIMED.discard(id(connection))


def fetch_tuples(
    connection: duckdb.DuckDBPyConnection, statement: str, values: list[Any] | dict[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """Run a small query and return all rows."""
    return connection.execute(statement, values).fetchall()


def query_files(statement: str, values: list[Any] | dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """Return the rows of a query over files, which has a connection of its own; none if it fails."""
    with duckdb.connect(config=NO_EXTENSION_CONFIG) as connection, suppress(duckdb.Error):
        return fetch_tuples(connection, statement, values)
    return []


def describe_columns(connection: duckdb.DuckDBPyConnection, statement: str) -> dict[str, str]:
    """Return the columns of a query with their types."""
    return {name: duckdb_type for name, duckdb_type, *_ in fetch_tuples(connection, f"DESCRIBE {statement}")}


def _open_connection(connection: Any) -> duckdb.DuckDBPyConnection:
    if connection is None:
        return duckdb.connect(config=NO_EXTENSION_CONFIG)
    if not isinstance(connection, (str, Path)):
        raise InputError(f"cannot connect to a {type(connection).__name__}. Give a DuckDB connection or the path of a DuckDB file")
    if not os.path.isfile(connection):  # noqa: PTH113  returns False for paths that are too long
        if str(connection).startswith(("md:", "motherduck:")):
            raise InputError(
                f"connection: {str(connection)!r} is an address of MotherDuck. Give connection=duckdb.connect({str(connection)!r})"
            )
        if _ADDRESS.match(str(connection)):
            raise InputError(
                f"connection: {str(connection)!r} is the address of a database and no connection. Open it with its driver in Python and give "
                "that, such as psycopg.connect(...), or run there what sqlrank.sql (sqlrank sql --dialect ...) prints"
            )
        raise InputError(f"there is no DuckDB file {str(connection)!r}. Check the path")
    try:
        with suppress(duckdb.ConnectionException):
            return duckdb.connect(str(connection), read_only=True, config=NO_EXTENSION_CONFIG)
        # The file is already open in this process with its owner's settings.
        return duckdb.connect(str(connection), read_only=True)
    except duckdb.Error as error:
        if reader_function(str(connection)):
            raise InputError(f"cannot open {str(connection)!r} as a DuckDB file. It is a table: give it as an input instead") from None
        if _is_sqlite_file(connection):
            raise InputError(
                f"connection: {str(connection)!r} is a SQLite file, not one of DuckDB. In Python give sqlite3.connect({str(connection)!r}), "
                "or run there what sqlrank.sql (sqlrank sql --dialect sqlite) prints"
            ) from None
        raise InputError(f"cannot open {str(connection)!r} as a DuckDB file: {explain_duckdb_error(error)}") from None


def _is_sqlite_file(path: str | Path) -> bool:
    with suppress(OSError), Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
    return False
