"""Run work on the database of a connection under limits, and queries that several evaluations read
once.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import duckdb

from sqlrank.call.request import ResourceLimits, select_arguments
from sqlrank.call.sources import QuerySource, leaf_sources, map_sources
from sqlrank.cancellation import run_cancellable
from sqlrank.engines.database import Database, NamesOnlyDatabase
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.duckdb_session import (
    duckdb_session,
)
from sqlrank.engines.query_sources import reads_files
from sqlrank.engines.remote_database import (
    RemoteDatabase,
    check_no_limits,
    infer_dialect,
    is_duckdb_connection,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


Outcome = TypeVar("Outcome")

MAX_ROWS_OF_ONE_THREAD = 50_000
"""Rows in memory up to which one thread evaluates them: DuckDB gives each thread 122,880."""


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
                database = DuckDBDatabase(duck, is_own=connection is None)
                # What it registers ends with a connection of its own.
                with nullcontext(database) if connection is None else closing(database):
                    return work(database)

            return run_cancellable(duck, run_work, progress)
    check_no_limits(limits, dialect)
    with closing(RemoteDatabase(connection, dialect)) as database:
        report_progress = progress or (lambda _: None)
        report_progress(0.0)
        result = work(database)
        report_progress(100.0)
        return result


@dataclass(frozen=True)
class ExecutionOptions:
    """The database of a call, the dialect of its engine, limits, the check of rows, and the
    progress callback. ``opened`` is a database that several evaluations share.
    """

    connection: Any = None
    dialect: str = "duckdb"
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    check: Literal["auto", "full", "off"] = "auto"
    progress: Callable[[float], None] | None = None
    opened: DuckDBDatabase | None = None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> ExecutionOptions:
        """Return the options among the arguments of a public function."""
        dialect = infer_dialect(arguments["connection"], arguments["dialect"])
        return select_arguments(
            cls, arguments, dialect=dialect, limits=select_arguments(ResourceLimits, arguments)
        )

    def with_threads_for(self, num_rows: int | None) -> ExecutionOptions:
        """Return options with one thread for few rows in memory, None for others: a second one
        takes processor time, and finds nothing to do.
        """
        is_chosen = self.connection is not None or self.limits.threads is not None
        if is_chosen or num_rows is None or num_rows > MAX_ROWS_OF_ONE_THREAD:
            return self
        return replace(self, limits=replace(self.limits, threads=1))

    def run(self, work: Callable[[Database], Outcome]) -> Outcome:
        """Run ``work`` on the database, and return its result."""
        if (database := self.opened) is not None:
            return run_cancellable(database.connection, lambda: work(database), self.progress)
        return run_on_database(self.connection, self.dialect, self.limits, work, self.progress)

    @contextmanager
    def keep_open(self) -> Iterator[ExecutionOptions]:
        """Yield options whose evaluations share a database of files and data in memory, which reads
        each source once. It ends with its connection, since work that was abandoned may be using
        it.
        """
        if self.connection is not None or self.dialect != "duckdb":
            yield self
            return
        with duckdb_session(None, self.limits, has_progress=self.progress is not None) as duck:
            yield replace(self, opened=DuckDBDatabase(duck, is_own=True))


@contextmanager
def open_for_inspection(
    connection: Any, dialect: str, sources: Iterable[Any]
) -> Iterator[Database]:
    """Yield the database of a connection, or DuckDB for files; otherwise one without inspection."""
    has_files = any(reads_files(leaf) for source in sources for leaf in leaf_sources(source))
    if connection is not None and not is_duckdb_connection(connection):
        with closing(RemoteDatabase(connection, dialect, is_inspected=True)) as database:
            yield database
    elif dialect == "duckdb" and (connection is not None or has_files):
        with (
            duckdb_session(connection, ResourceLimits()) as duck,
            closing(
                DuckDBDatabase(duck, keeps_text=False, is_own=connection is None)
            ) as duckdb_database,
        ):
            yield duckdb_database
    else:
        yield NamesOnlyDatabase(dialect)


@contextmanager
def share_queries(
    sources: Mapping[str, Any], connection: Any, dialect: str | None, limits: ResourceLimits
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield sources whose queries have run on DuckDB, by role, and the connection that has their
    rows.

    A file of a database, and a connection of this package, are opened for as long. Other engines
    compute queries where they are.
    """
    members: list[Any] = []
    roles: dict[QuerySource, str] = {}
    for role, source in sources.items():
        map_sources(source, members.append)
        roles = {
            member: role
            for member in members
            if isinstance(member, QuerySource) and member.table is None
        } | roles
    if not roles or infer_dialect(connection, dialect) != "duckdb":
        yield dict(sources), connection
        return
    with ExitStack() as stack:
        if not isinstance(connection, duckdb.DuckDBPyConnection):
            connection = stack.enter_context(duckdb_session(connection, limits))
        queries: dict[QuerySource, QuerySource] = run_on_database(
            connection,
            "duckdb",
            limits,
            lambda database: {
                query: database.keep_query(role, query) for query, role in roles.items()
            },
        )
        stack.callback(_drop_tables, connection, queries.values())
        yield (
            {
                role: map_sources(
                    source,
                    lambda member: (
                        queries.get(member, member) if isinstance(member, QuerySource) else member
                    ),
                )
                for role, source in sources.items()
            },
            connection,
        )


def _drop_tables(connection: duckdb.DuckDBPyConnection, queries: Iterable[QuerySource]) -> None:
    for table in (query.table for query in queries if query.table is not None):
        with suppress(
            duckdb.Error
            # the connection may be closed or its transaction aborted, and that error must not be
            # hidden
        ):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
