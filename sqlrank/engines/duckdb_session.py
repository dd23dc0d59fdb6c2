"""Open or reserve a DuckDB connection for a call, from a pool of databases, with limits, settings
and a directory to spill to.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import tempfile
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
from sqlglot import exp

from sqlrank.call.request import ResourceLimits, parse_memory_size
from sqlrank.call.sources import reader_function
from sqlrank.cancellation import (
    Worker,
    clean_up_at_signal,
    hold_exit,
    is_worked_on,
    make_fork_safe_lock,
)
from sqlrank.engines.query_sources import (
    split_path,
)
from sqlrank.errors import ExecutionError, InputError, SqlrankError, first_line
from sqlrank.registry.query_templates import load_select

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa


def set_setting(connection: duckdb.DuckDBPyConnection, name: str, value: Any) -> None:
    """Set a setting that has another value.

    A notebook without widgets refuses every change of the progress bar, also to the value that it
    has.

    Raises:
        InputError: The value is invalid.
    """
    try:
        current = connection.execute("SELECT current_setting(?)", [name]).fetchall()[0][0]
        if str(current).lower() != str(value).lower():
            connection.execute(f"SET {name} = ?", [value])
    except duckdb.Error as error:
        raise InputError(
            f"{name}={value!r} is not possible: {first_line(error).removesuffix('.')}. Give"
            " another, or leave it out for the default of DuckDB"
        ) from None


def restore_setting(connection: duckdb.DuckDBPyConnection, name: str, value: Any) -> None:
    """Restore a setting.

    DuckDB shows sizes truncated to one decimal, so that a default is reset. To any other size the
    digit 5 is appended: 1.2 GiB is set as 1.25 GiB, the middle of the sizes that are shown as 1.2
    GiB.
    """
    # A setting that cannot be restored, such as a spill directory in use, must not hide the result
    # or the original error.
    with suppress(duckdb.Error, InputError):
        connection.execute(f"RESET {name}")
        if connection.execute("SELECT current_setting(?)", [name]).fetchall()[0][0] != value:
            set_setting(
                connection,
                name,
                (
                    re.sub(r"\.\d(?= [KMGT]iB$)", r"\g<0>5", value)
                    if isinstance(value, str)
                    else value
                ),
            )


PERFECT_HASH_SETTING, PERFECT_HASH_BITS = "perfect_ht_threshold", 20
"""Setting and size (a power of two, per thread) of DuckDB's perfect hash table.

A thousand groups of a thousand bins take about 80 MB.
"""


def fetch_with_perfect_hash(connection: duckdb.DuckDBPyConnection, text: str) -> pa.Table:
    """Run a query with the perfect hash table.

    It requires group keys in a small integer range.
    """
    with _enable_perfect_hash(connection):
        return connection.sql(text).to_arrow_table()


@contextmanager
def _enable_perfect_hash(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    previous = connection.execute("SELECT CURRENT_SETTING(?)", [PERFECT_HASH_SETTING]).fetchall()[
        0
    ][0]
    set_setting(connection, PERFECT_HASH_SETTING, PERFECT_HASH_BITS)
    try:
        yield
    finally:
        restore_setting(connection, PERFECT_HASH_SETTING, previous)


MAX_REMOVALS = 100
"""Maximum number of attempts to remove a directory into which threads still write."""

_NAME = re.compile(r"sqlrank_(?P<process>\d+)_(?P<machine>\d+)_\w+")


def make_spill_directory() -> str:
    """Make a spill directory for this process and remove those of ended processes."""
    _remove_stale(tempfile.gettempdir(), os.getpid())
    clean_up_at_signal("spill directories", _remove_own)
    with hold_exit():
        return tempfile.mkdtemp(prefix=f"sqlrank_{os.getpid()}_{pid_namespace()}_")


def _remove_own() -> None:
    """Remove all spill directories of this process."""
    for _ in range(MAX_REMOVALS):
        own = [*Path(tempfile.gettempdir()).glob(f"sqlrank_{os.getpid()}_{pid_namespace()}_*")]
        for path in own:
            shutil.rmtree(path, ignore_errors=True)
        if not own:
            return


def pid_namespace() -> int:
    """Return the PID namespace, which distinguishes process ids of containers that share a
    directory.
    """
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


@cache
def _remove_stale(folder: str, process: int) -> None:  # noqa: ARG001  cached once per process
    for path in Path(folder).glob("sqlrank_*"):
        match = _NAME.fullmatch(path.name)
        if (
            match
            and int(match["machine"]) == pid_namespace()
            and _is_mine(path)
            and not _process_exists(int(match["process"]))
        ):
            shutil.rmtree(path, ignore_errors=True)


def _is_mine(path: Path) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except (OSError, AttributeError):  # removed in the meantime, or a system without users
        return False


def _process_exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


NO_EXTENSION_CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
"""Configuration of databases opened here: no extensions are loaded, so only local files are
accessible, and no variables of Python.
"""


TIME_ZONE = "UTC"
"""Time zone of databases opened here, in which a time with a zone has its day, whatever that of the
machine is.
"""


class _DatabasePool:
    """Databases of this process, with a spill directory that is removed at exit.

    There is one for the default number of threads, one for a single thread, and one for the number
    last requested.
    """

    def __init__(self) -> None:
        self._lock = make_fork_safe_lock()
        self._databases: dict[tuple[int, int | None], duckdb.DuckDBPyConnection] = {}

    def connect(self, threads: int | None) -> duckdb.DuckDBPyConnection:
        """Return a separate connection to the database with this thread count.

        No other caller sees its temporary tables.
        """
        with self._lock:
            # A forked process has none of its parent's threads, so it can neither use nor close the
            # parent's database.
            process = os.getpid()
            pool_key = process, threads
            if pool_key not in self._databases:
                database = _open_database(threads)
                # A dropped database is not closed explicitly: it ends with its last connection.
                for replaced_key in [
                    key
                    for key in self._databases
                    if key[0] == process and not {key[1], threads} & {None, 1}
                ]:
                    del self._databases[replaced_key]
                self._databases[pool_key] = database
            return self._databases[pool_key].cursor()


def _open_database(threads: int | None) -> duckdb.DuckDBPyConnection:
    folder = make_spill_directory()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    database = duckdb.connect(
        config={**NO_EXTENSION_CONFIG, "temp_directory": folder, "preserve_insertion_order": False}
    )
    set_setting(database, "enable_progress_bar", "false")
    database.execute("SET GLOBAL TimeZone = ?", [TIME_ZONE])
    if threads is not None:
        set_setting(database, "threads", threads)
    return database


_SPARE = _DatabasePool()


@contextmanager
def pooled_connection(threads: int | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to a pooled database, on which nothing persists.

    Raises:
        InputError: The number of threads is invalid.
    """
    connection = _SPARE.connect(threads)
    try:
        yield connection
    finally:
        connection.close()


SEMANTIC_SETTINGS = {
    "default_order": "ASCENDING",
    "default_null_order": "NULLS_LAST",
    "integer_division": False,
    "default_collation": "",
    "python_enable_replacements": False,
}
"""Settings of a user's connection that would change the meaning of a statement."""
_OUT_OF_MEMORY_ADVICE = (
    "Give more with memory_limit, fewer threads, or a temp_directory on a larger disk"
)
_ENDED = (
    "DuckDB has ended the open transaction of your connection by this error: call rollback(). What"
    " was not committed is lost."
)
_ADDRESS = re.compile(r"[a-z][\w+.-]+:/", re.IGNORECASE)
_UNWRITTEN = "could not write file"
_ADVICE = {
    "don't know what type|tprotocol|decompress|corrupt|out of buffer": (
        ". A file that it reads is damaged: write it again"
    ),
    "no magic bytes|footer length": (
        ": write it again: it is damaged, or was not written to its end"
    ),
    "is encrypted": (
        ": read it by a query on a connection of your own that has its key, with connection="
    ),
    "permission denied|read-only": (
        ". Change its permissions, or name another, such as a copy that you may write"
    ),
    "not utf-8": (
        ": it is not UTF-8 text. Convert it, such as with iconv -f LATIN1 -t UTF-8 (or -f UTF-16)"
    ),
    "maximum line size of": (
        ": a line of it is longer than the 2 MB that DuckDB reads at once. Make a Parquet file of"
        " it, without that column"
    ),
    "parsing dialect": (
        ": end all lines the same way (dos2unix does), separate fields by one delimiter, and close"
        " every quote, or make a Parquet file of it"
    ),
    "parquet file": ": write it again if it is damaged",
    "malformed json": ": correct what is there, or write the file again",
    "has duplicate key": ": give one value to each key, or rename one of the two",
    "requires the extension": (
        ": load it on a connection of your own, and give that with connection=, or get the file"
    ),
    _UNWRITTEN: (
        ". Free space, or name another disk: a database elsewhere, and a temp_directory for rows"
        " beyond the memory_limit"
    ),
}
"""Advice on errors, by patterns of their lower-case text."""

_LOCK = re.compile(
    r'lock on file "(?P<file>[^"]*)"(?:.* held in (?:\S*/)?(?P<program>[^\s/]+) \(PID'
    r" (?P<id>\d+)\))?"
)
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
        raise ExecutionError(
            f"out of memory: {first_line(error)}. {_OUT_OF_MEMORY_ADVICE}"
        ) from error
    except duckdb.Error as error:
        raise ExecutionError(
            f"the statement failed in DuckDB: {explain_duckdb_error(error)}"
        ) from error


def is_write_error(error: duckdb.Error) -> bool:
    """Return True if DuckDB could not write a file, as on a full disk; at a commit this is an error
    of the transaction.
    """
    return _UNWRITTEN in str(error).lower()


def explain_duckdb_error(error: duckdb.Error) -> str:
    """Return the first line of an error of DuckDB with advice, if there is any; if another process
    has the file open, name the process and the remedy.
    """
    text = str(error)
    if (lock := _LOCK.search(text)) is None:
        matching = (advice for words, advice in _ADVICE.items() if re.search(words, text.lower()))
        advice = next(matching, "")
        return f"{first_line(error).rstrip('. ')}{advice}" if advice else first_line(error)
    process = f" ({lock['program']}, PID {lock['id']})" if lock["program"] else ""
    return (
        f"another process{process} has {lock['file']!r} open. Close it there, open it there"
        " read-only to read it here, or give a copy"
    )


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
            current_values = fetch_tuples(
                database,
                f"SELECT {', '.join(['current_setting(?)'] * len(requested))}",
                list(requested),
            )[0]
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
            _raise_with_note(
                error, _ENDED + (f" Set {', '.join(previous)} again then." if previous else "")
            )
        raise
    clear_session()


def _is_aborted(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return True if an error has ended the open transaction of a connection."""
    try:
        connection.execute(
            "SELECT 1"
        ).fetchall()  # fetchall, because an unfinished result would block the next statement
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
        InputError: It is closed, or has rows that the user has not fetched; ``sql`` detects these,
            whereas ``execute`` discards them.
    """
    with _CLAIM_LOCK:
        if id(connection) in _CLAIMED:
            raise ExecutionError(
                "connection: another call is using this DuckDB connection, which serves one at a"
                " time. Give each thread a connection of its own, connection=con.cursor(), which"
                " does not see temporary tables"
            )
        _CLAIMED.add(id(connection))
    try:
        connection.sql("SELECT 1").fetchall()
    except duckdb.Error as error:
        release_connection(connection)
        problem = first_line(error)
        if "unfinished result" in problem:
            problem += (
                ". Fetch all its rows (fetchall), or give connection=con.cursor(), which does not"
                " see temporary tables"
            )
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


MAX_PARSED = 64
"""Number of parsed statements that are kept."""

_PARSED: dict[str, duckdb.Statement] = {}


def parse_once(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    """Return a parsed statement, which depends on nothing but its text on connections of sqlrank
    itself: to parse one takes a sixth of the time of a small one.
    """
    statement = _PARSED.get(text)
    if statement is None:
        (statement,) = connection.extract_statements(text)
        if len(_PARSED) >= MAX_PARSED:
            _PARSED.clear()
        _PARSED[text] = statement
    return statement


def fetch_tuples(
    connection: duckdb.DuckDBPyConnection,
    statement: str | duckdb.Statement,
    values: list[Any] | dict[str, Any] | None = None,
) -> list[tuple[Any, ...]]:
    """Run a small query and return all rows."""
    return connection.execute(statement, values).fetchall()


def query_files(
    statement: str, values: list[Any] | dict[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """Return the rows of a query over files, which has a connection of its own; none if it
    fails.
    """
    with duckdb.connect(config=NO_EXTENSION_CONFIG) as connection, suppress(duckdb.Error):
        return fetch_tuples(connection, statement, values)
    return []


def describe_columns(connection: duckdb.DuckDBPyConnection, statement: str) -> dict[str, str]:
    """Return the columns of a query with their types."""
    return {
        name: duckdb_type
        for name, duckdb_type, *_ in fetch_tuples(connection, f"DESCRIBE {statement}")
    }


def _open_connection(connection: Any) -> duckdb.DuckDBPyConnection:
    if connection is None:
        return duckdb.connect(config=NO_EXTENSION_CONFIG)
    if not isinstance(connection, (str, Path)):
        raise InputError(
            f"cannot connect to a {type(connection).__name__}. Give a DuckDB connection or the path"
            " of a DuckDB file"
        )
    if not os.path.isfile(connection):  # noqa: PTH113  returns False for paths that are too long
        if str(connection).startswith(("md:", "motherduck:")):
            raise InputError(
                f"connection: {str(connection)!r} is an address of MotherDuck. Open it in Python"
                f" with duckdb.connect({str(connection)!r}) and give that, or pipe the"
                f" statement to it: sqlrank sql ... | duckdb {shlex.quote(str(connection))}"
            )
        if _ADDRESS.match(str(connection)):
            raise InputError(
                f"connection: {str(connection)!r} is the address of a database and no connection."
                " Open it with its driver in Python and give that, such as psycopg.connect(...),"
                " or run there what sqlrank.sql (sqlrank sql --dialect ...) prints"
            )
        raise InputError(f"there is no DuckDB file {str(connection)!r}. Check the path")
    try:
        with suppress(duckdb.ConnectionException):
            return duckdb.connect(str(connection), read_only=True, config=NO_EXTENSION_CONFIG)
        # The file is already open in this process with its owner's settings.
        return duckdb.connect(str(connection), read_only=True)
    except duckdb.Error as error:
        if reader_function(str(connection)):
            raise InputError(
                f"cannot open {str(connection)!r} as a DuckDB file. It is a table: give it as an"
                " input instead"
            ) from None
        if _is_sqlite_file(connection):
            raise InputError(
                f"connection: {str(connection)!r} is a SQLite file, not one of DuckDB. In Python"
                f" give sqlite3.connect({str(connection)!r}), or run there what sqlrank.sql"
                " (sqlrank sql --dialect sqlite) prints"
            ) from None
        raise InputError(
            f"cannot open {str(connection)!r} as a DuckDB file: {explain_duckdb_error(error)}"
        ) from None


def _is_sqlite_file(path: str | Path) -> bool:
    with suppress(OSError), Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
    return False


def engine_memory_limit(limit: str | None) -> str | None:
    """Return the memory limit for DuckDB.

    It is the limit minus this process's memory, at least 85 % of the limit.
    """
    limit_bytes = None if limit is None else parse_memory_size(limit)
    status = Path("/proc/self/status")
    if limit_bytes is None or not status.exists():
        return limit
    resident_bytes = 1024 * next(
        int(line.split()[1])
        for line in status.read_text("ascii").splitlines()
        if line.startswith("VmRSS:")
    )
    return f"{int(max(0.85 * limit_bytes, limit_bytes - resident_bytes) / 1000)}KB"


BUILTIN_SCHEMA = "system.main"
"""Schema of DuckDB's built-in functions."""


class NameResolution(NamedTuple):
    """Name resolution of a DuckDB connection during a call.

    Attributes:
        default_schema: Database and schema of unqualified table names.
        search_path: Setting to restore, None if it was not changed.
        shadowed: User-defined functions that shadow built-in ones, with their full names.
    """

    default_schema: tuple[str, str]
    search_path: str | None
    shadowed: Mapping[str, str]


def prefer_builtins(connection: duckdb.DuckDBPyConnection) -> NameResolution:
    """Put the schema of built-in functions first in the search path of a connection.

    Inside a transaction the path is unchanged, because an error would prevent its restoration.
    Shadowing functions are queried instead, which takes about 40 ms.
    """
    query = (
        "SELECT CURRENT_DATABASE(), CURRENT_SCHEMA(), CURRENT_SETTING('search_path'),"
        " TXID_CURRENT()"
    )
    database, schema, path, transaction = connection.execute(query).fetchall()[0]
    if connection.execute("SELECT TXID_CURRENT()").fetchall()[0][0] == transaction:
        functions = connection.execute(
            load_select("inputs", "shadowing_functions_duckdb.sql").sql("duckdb")
        ).fetchall()
        builtin = {name.lower() for name, *_, is_builtin in functions if is_builtin}
        user = {
            name.lower(): ".".join([*path, name])
            for name, *path, is_builtin in functions
            if not is_builtin
        }
        return NameResolution(
            (database, schema), None, {name: user[name] for name in user.keys() & builtin}
        )
    # A schema without database refers to the first database of the path, which changes.
    names = [[database, *name_parts][-2:] for name_parts in split_path(path)] or [
        [database, schema]
    ]
    tables = [
        ".".join(exp.to_identifier(part, quoted=True).sql("duckdb") for part in name_parts)
        for name_parts in names
    ]
    set_setting(connection, "search_path", ",".join([BUILTIN_SCHEMA, *tables]))
    return NameResolution((database, schema), path, {})


def put_back_search_path(connection: duckdb.DuckDBPyConnection, resolution: NameResolution) -> None:
    """Restore the search path of a connection."""
    if resolution.search_path is not None:
        restore_setting(connection, "search_path", resolution.search_path)
