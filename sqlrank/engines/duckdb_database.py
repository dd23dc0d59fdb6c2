"""Run a database session on a DuckDB connection: resolve sources, run statements, and remove registered tables at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank.engines.database import Database, SourceTable
from sqlrank.engines.duckdb_session import describe_columns, fetch_tuples, translate_duckdb_errors
from sqlrank.engines.duckdb_settings import fetch_with_perfect_hash
from sqlrank.engines.duckdb_sources import DuckDBSources
from sqlrank.query_text import write_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlglot import exp

    from sqlrank.engines.declared_columns import DeclaredColumns
    from sqlrank.errors import ExecutionError
    from sqlrank.request import QuerySource


class DuckDBDatabase(Database):
    """A session on a DuckDB connection; ``close`` removes what it registers.

    ``keeps_text`` loads text once into a temporary table; ``is_own`` marks a connection that is not shared. Such a one is the
    ``private_connection``.
    """

    supports_dense_groups = True

    def __init__(self, connection: duckdb.DuckDBPyConnection, keeps_text: bool = True, is_own: bool = False) -> None:
        super().__init__("duckdb")
        self._sources = DuckDBSources(connection, keeps_text, is_own)
        self.private_connection = connection if is_own else None

    def close(self) -> None:
        """Remove registered views and temporary tables."""
        self._sources.close()

    @property
    def shadowed(self) -> Mapping[str, str]:
        """User-defined functions, by name, that would be called instead of built-in ones."""
        return self._sources.shadowed

    def is_data_error(self, error: ExecutionError) -> bool:
        """Return True if values in the tables may have caused an error."""
        return isinstance(error.__cause__, (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException))

    def fetch_result(self, text: str, types: Mapping[str, pa.DataType | None]) -> pa.Table:
        """Run a statement, and return its columns with these names."""
        return self.fetch_arrow(text).rename_columns(list(types))

    def keep_query(self, role: str, query: QuerySource) -> QuerySource:
        """Run a query once, and return it with the temporary table of its rows, which is not removed at the end."""
        with translate_duckdb_errors():
            return self._sources.keep_query(role, query)

    def _resolve_source(self, role: str, source: Any, columns: DeclaredColumns) -> SourceTable:
        with translate_duckdb_errors():
            return self._sources.resolve_and_load(role, source, columns)

    def _fetch_arrow(self, text: str) -> pa.Table:
        with translate_duckdb_errors():
            return self._sources.register_streams().sql(text).to_arrow_table()

    def _fetch_groups(self, text: str) -> pa.Table:
        with translate_duckdb_errors():
            return fetch_with_perfect_hash(self._sources.register_streams(), text)

    def _fetch_rows(self, text: str) -> list[tuple[Any, ...]]:
        with translate_duckdb_errors():
            return fetch_tuples(self._sources.register_streams(), text)

    @property
    def has_unread_streams(self) -> bool:
        """True while rows of a stream have not been read."""
        return bool(self._sources.unread_streams)

    @property
    def time_zone(self) -> str:
        """The time zone of the session."""
        ((name,),) = self._fetch_rows("SELECT CURRENT_SETTING('TimeZone')")
        return str(name)

    def _describe_query(self, query: exp.Query) -> dict[str, str]:
        with translate_duckdb_errors():
            return describe_columns(self._sources.connection, write_tree(query))
