"""Run queries that are sources of several evaluations once, and keep their rows in temporary tables until all are evaluated."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.engines.connection_dialect import infer_dialect
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.open_database import run_on_database
from sqlrank.request import QuerySource, SourceGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlrank.engines.resource_limits import ResourceLimits


@contextmanager
def share_queries(
    sources: Mapping[str, Any], connection: Any, dialect: str | None, limits: ResourceLimits
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield sources whose queries have run on DuckDB, by role, and the connection that has their rows.

    A file of a database, and a connection of this package, are opened for as long. Other engines compute queries where they are.
    """
    members: list[Any] = []
    roles: dict[QuerySource, str] = {}
    for role, source in sources.items():
        replace_members(source, members.append)
        roles = {member: role for member in members if isinstance(member, QuerySource) and member.table is None} | roles
    if not roles or infer_dialect(connection, dialect) != "duckdb":
        yield dict(sources), connection
        return
    with ExitStack() as stack:
        if not isinstance(connection, duckdb.DuckDBPyConnection):
            connection = stack.enter_context(duckdb_session(connection, limits))
        queries: dict[QuerySource, QuerySource] = run_on_database(
            connection, "duckdb", limits, lambda database: {query: database.keep_query(role, query) for query, role in roles.items()}
        )
        stack.callback(_drop_tables, connection, queries.values())
        yield (
            {
                role: replace_members(source, lambda member: queries.get(member, member) if isinstance(member, QuerySource) else member)
                for role, source in sources.items()
            },
            connection,
        )


def replace_members(source: Any, replacement: Callable[[Any], Any]) -> Any:
    """Return a source, or a collection of some, with each replaced; a dict in a dict is a ranking."""
    if isinstance(source, SourceGroup):
        members = tuple((name, replace_members(member, replacement)) for name, member in source.members)
        return SourceGroup(members, source.members_are_systems)
    if isinstance(source, (list, tuple)):
        return type(source)(replace_members(member, replacement) for member in source)
    if isinstance(source, dict):
        return {name: member if isinstance(member, dict) else replace_members(member, replacement) for name, member in source.items()}
    return replacement(source)


def _drop_tables(connection: duckdb.DuckDBPyConnection, queries: Iterable[QuerySource]) -> None:
    for table in (query.table for query in queries if query.table is not None):
        with suppress(duckdb.Error):  # the connection may be closed or its transaction aborted, and that error must not be hidden
            connection.execute(f"DROP TABLE IF EXISTS {table}")
