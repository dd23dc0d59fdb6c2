"""Open a scratch DuckDB session for the intermediate tables of a call, and run queries and evaluations on it."""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb

from sqlrank.engines.cancellation import run_cancellable
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.duckdb_session import duckdb_session, translate_duckdb_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from sqlglot import exp

    from sqlrank.engines.database import Database
    from sqlrank.engines.open_database import Outcome
    from sqlrank.engines.resource_limits import ResourceLimits


class ScratchSession:
    """A DuckDB session in memory for the intermediate tables of a call."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run_query(self, query: exp.Query, **tables: pa.Table) -> pa.Table:
        """Return the result of a query over Arrow tables, which it reads by their names."""
        try:
            with translate_duckdb_errors():
                for name, table in tables.items():
                    self._connection.register(name, table)
                return self._connection.sql(query.sql("duckdb")).to_arrow_table()
        finally:
            for name in tables:
                with suppress(duckdb.Error):
                    self._connection.unregister(name)

    def run(self, work: Callable[[Database], Outcome]) -> Outcome:
        """Run ``work`` on a database that reads objects in memory, until the deadline of the call, and return its result."""

        def run_work() -> Outcome:
            with closing(DuckDBDatabase(self._connection, is_own=True)) as database:
                return work(database)

        return run_cancellable(self._connection, run_work, None)


@contextmanager
def open_scratch_session(database: Database, limits: ResourceLimits) -> Iterator[ScratchSession]:
    """Yield a session for intermediate tables: that of ``database`` if it is in memory and no user's, otherwise a new one."""
    connection = database.private_connection if isinstance(database, DuckDBDatabase) else None
    if connection is not None:
        yield ScratchSession(connection)
        return
    with duckdb_session(None, replace(limits, timeout=None)) as opened:  # the call has a deadline of its own
        yield ScratchSession(opened)
