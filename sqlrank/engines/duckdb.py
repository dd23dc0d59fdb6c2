"""Run a statement on DuckDB: limits, progress, time-out and interruption."""

from __future__ import annotations

import os
import re
import shutil
import threading
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from sqlrank.deadline import WORK, late, time_left
from sqlrank.engines.files import reader
from sqlrank.engines.settings import put, put_back
from sqlrank.engines.spare import CLOSED, spare_connection
from sqlrank.engines.spill import spill_folder
from sqlrank.errors import ExecutionError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Done = TypeVar("Done")

POLL_SECONDS = 0.02
GRACE = 0.5
"""Seconds after which work that does not heed an interrupt is left alone."""
SEMANTICS = {"default_order": "ASCENDING", "default_null_order": "NULLS_LAST", "integer_division": False, "default_collation": ""}
"""Settings of a caller's connection that would change what a statement means."""
_BYTES = re.compile(r"\s*(?P<number>\d+(\.\d+)?)\s*(?P<unit>[KMGT])(?P<binary>i?)B\s*", re.IGNORECASE)
_COSMETIC = {"enable_progress_bar", "enable_progress_bar_print"}
_NEXT_STEP = "give more with memory_limit, fewer threads, or a temp_directory on a larger disk"


class _LeftAloneError(ExecutionError):
    """Work that is still under way when its time is over."""


@dataclass(frozen=True)
class Limits:
    """What a call may use: ``memory_limit`` of this process, such as ``"2GB"``, ``threads``, ``temp_directory``, ``timeout`` in seconds."""

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | Path | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a limit."""
        if self.timeout is not None and not (isinstance(self.timeout, (int, float)) and self.timeout > 0):
            raise InputError(f"timeout={self.timeout!r} is not possible: give seconds above 0")
        if self.threads is not None and not isinstance(self.threads, int):
            raise InputError(f"threads={self.threads!r} is not possible: give a whole number")
        if self.temp_directory is not None:
            try:
                Path(self.temp_directory).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"temp_directory={str(self.temp_directory)!r} is not possible: {error.strerror}") from None


@contextmanager
def as_execution_errors() -> Iterator[None]:
    """Raise ``ExecutionError`` for what DuckDB says of a statement; its own error is the cause."""
    try:
        yield
    except duckdb.Error as error:
        raise ExecutionError(f"duckdb: {str(error).strip().splitlines()[0]}") from error


@contextmanager
def session(  # noqa: C901  each way to end is one branch
    connection: Any, limits: Limits, has_progress: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a DuckDB connection under limits: the caller's own, a file opened read-only, or one in memory.

    Settings of the caller's connection are put back at the end, and a spill folder made here is removed.
    Raises ``InputError`` for a connection that cannot be worked with now, and for a setting that is not possible.
    """
    if connection is None and limits == Limits(threads=limits.threads) and not has_progress:
        with spare_connection(limits.threads) as spare, as_execution_errors():
            yield spare
        return
    owned = not isinstance(connection, duckdb.DuckDBPyConnection)
    if not owned:
        _refuse_unusable(connection)
    database = _open(connection) if owned else connection
    spill = spill_folder() if limits.temp_directory is None and owned else None
    settings = {
        "memory_limit": _for_the_engine(limits.memory_limit),
        "threads": limits.threads,
        "temp_directory": spill or (str(limits.temp_directory) if limits.temp_directory else None),
        "preserve_insertion_order": False if owned else None,
        "enable_progress_bar_print": False if has_progress else None,
        "enable_progress_bar": has_progress,
        **SEMANTICS,
    }
    previous: dict[str, Any] = {}

    def clear() -> None:
        if owned:
            database.close()
        else:
            for name, value in previous.items():
                put_back(database, name, value)
        if spill:
            shutil.rmtree(spill, ignore_errors=True)

    try:
        wanted = {name: value for name, value in settings.items() if value is not None}
        there = rows(database, f"SELECT {', '.join(['current_setting(?)'] * len(wanted))}", list(wanted))[0]
        for (name, value), current in zip(wanted.items(), there, strict=True):
            if str(current).lower() != str(value).lower():
                previous[name] = current
                with suppress(InputError) if name in _COSMETIC else nullcontext():
                    put(database, name, value)
        with as_execution_errors():
            yield database
    except _LeftAloneError:
        threading.Thread(target=clear, name=WORK, daemon=True).start()
        raise
    except BaseException:
        clear()
        raise
    clear()


def _for_the_engine(limit: str | None) -> str | None:
    """Return what is left of a memory limit for DuckDB beside what this process holds already, at least most of it."""
    match = _BYTES.fullmatch(limit) if isinstance(limit, str) else None
    status = Path("/proc/self/status")
    if match is None or not status.exists():
        return limit
    given = float(match["number"]) * (1024 if match["binary"] else 1000) ** " KMGT".index(match["unit"].upper())
    held = 1024 * next(int(line.split()[1]) for line in status.read_text("ascii").splitlines() if line.startswith("VmRSS:"))
    return f"{int(max(0.85 * given, given - held) / 1000)}KB"


def _refuse_unusable(connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a closed connection, and one with rows that the caller has yet to fetch: ``sql`` does so, ``execute`` drops them."""
    try:
        connection.sql("SELECT 1").fetchall()
    except duckdb.Error as error:
        raise InputError(f"this connection cannot be used now: {str(error).splitlines()[0]}") from None


def rows(connection: duckdb.DuckDBPyConnection, statement: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """Return all rows of a small query."""
    return connection.execute(statement, values).fetchall()


def describe(connection: duckdb.DuckDBPyConnection, statement: str) -> dict[str, str]:
    """Return the columns of a query with their types."""
    return {name: kind for name, kind, *_ in rows(connection, f"DESCRIBE {statement}")}


def _open(connection: Any) -> duckdb.DuckDBPyConnection:
    if connection is None:
        return duckdb.connect(config=CLOSED)
    if not isinstance(connection, (str, Path)):
        raise InputError(f"cannot connect to a {type(connection).__name__}; give a DuckDB connection or the path of a DuckDB file")
    if not os.path.isfile(connection):  # noqa: PTH113  a path that is too long is none, too
        raise InputError(f"there is no DuckDB file {str(connection)!r}; check the path")
    try:
        with suppress(duckdb.ConnectionException):
            return duckdb.connect(str(connection), read_only=True, config=CLOSED)
        # It is open in this process already, under settings of its owner's.
        return duckdb.connect(str(connection), read_only=True)
    except duckdb.Error as error:
        if reader(str(connection)):
            raise InputError(f"cannot open {str(connection)!r} as a DuckDB file; it is a table: give it as an input instead") from None
        raise InputError(f"cannot open {str(connection)!r} as a DuckDB file: {str(error).splitlines()[0]}") from None


def supervise(  # noqa: C901  each way to end is one branch
    connection: duckdb.DuckDBPyConnection, work: Callable[[], Done], progress: Callable[[float], None] | None
) -> Done:
    """Return what ``work`` returns; Ctrl-C, the time-out and an error of ``progress`` cancel what it is doing.

    The work runs in a thread of its own, so that this one can wait for signals, and can leave it alone where it does not heed an
    interrupt: it ends by itself at its next stage, and what it works on is cleared after it. Raises ``ExecutionError`` when time or
    memory runs out. ``progress`` is called with a percentage.
    """
    outcome: list[Done | BaseException] = []
    done = threading.Event()
    context = copy_context()

    def worker() -> None:
        try:
            outcome.append(context.run(work))
        except BaseException as error:  # noqa: BLE001  handed to the caller's thread below
            outcome.append(error)
        finally:
            done.set()

    threading.Thread(target=worker, name=WORK, daemon=True).start()
    told = 0.0
    try:
        while not done.wait(POLL_SECONDS):
            left = time_left()
            if left < -GRACE:
                raise _LeftAloneError(str(late()))  # noqa: TRY301  what is under way is not waited for
            if left <= 0:
                connection.interrupt()
            elif progress is not None:
                # Each query begins at 0 again, and what was told must not fall.
                told = max(told, connection.query_progress())
                progress(told)
    except _LeftAloneError:
        raise
    except BaseException:
        while not done.wait(POLL_SECONDS):
            connection.interrupt()
        raise
    (result,) = outcome
    if time_left() <= 0 and isinstance(result, Exception):
        raise late()
    if isinstance(result, duckdb.OutOfMemoryException):
        raise ExecutionError(f"out of memory: {str(result).splitlines()[0]}; {_NEXT_STEP}")
    if isinstance(result, BaseException):
        raise result
    return result
