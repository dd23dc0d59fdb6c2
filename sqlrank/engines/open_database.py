"""Run work on the database of a connection under limits, or open it only to inspect columns, for ``sql()``."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sqlrank.engines.cancellation import run_cancellable
from sqlrank.engines.connection_dialect import is_duckdb_connection
from sqlrank.engines.database import Database, NamesOnlyDatabase
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.remote_database import RemoteDatabase, check_no_limits
from sqlrank.engines.resource_limits import ResourceLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


Outcome = TypeVar("Outcome")


def run_on_database(
    connection: Any,
    dialect: str,
    limits: ResourceLimits,
    work: Callable[[Database], Outcome],
    progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Run ``work`` on the database of a connection under resource limits, and return its result.

    ``progress`` is called with the percentage done.
    """
    if is_duckdb_connection(connection):
        with duckdb_session(connection, limits, has_progress=progress is not None) as duck:

            def run_work() -> Outcome:
                with closing(DuckDBDatabase(duck, is_own=connection is None)) as database:
                    return work(database)

            return run_cancellable(duck, run_work, progress)
    check_no_limits(limits, dialect)
    with closing(RemoteDatabase(connection, dialect)) as database:
        report_progress = progress or (lambda _: None)
        report_progress(0.0)
        result = work(database)
        report_progress(100.0)
        return result


@contextmanager
def open_for_inspection(connection: Any, dialect: str, has_files: bool) -> Iterator[Database]:
    """Yield the database of a connection, or DuckDB for files; otherwise one without inspection."""
    if connection is not None and not is_duckdb_connection(connection):
        with closing(RemoteDatabase(connection, dialect, is_inspected=True)) as database:
            yield database
    elif dialect == "duckdb" and (connection is not None or has_files):
        with (
            duckdb_session(connection, ResourceLimits()) as duck,
            closing(DuckDBDatabase(duck, keeps_text=False, is_own=connection is None)) as duckdb_database,
        ):
            yield duckdb_database
    else:
        yield NamesOnlyDatabase(dialect)
