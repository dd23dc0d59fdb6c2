"""Recognize connections to DuckDB, and infer the SQL dialect of any connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from sqlrank.engines.driver_adapters import adapter_for
from sqlrank.errors import InputError
from sqlrank.rendering.dialects import DIALECTS, get_dialect


def is_duckdb_connection(connection: Any) -> bool:
    """Return True for a DuckDB connection, the path of a DuckDB file, or None."""
    return connection is None or isinstance(connection, (str, Path, duckdb.DuckDBPyConnection))


def infer_dialect(connection: Any, dialect: str | None) -> str:
    """Infer the SQL dialect of a connection; ``dialect`` overrides it."""
    if dialect is not None:
        get_dialect(dialect)
    if is_duckdb_connection(connection):
        if dialect not in {None, "duckdb"}:
            raise InputError(f"dialect={dialect!r} is not DuckDB's dialect. Give connection= to a database of that dialect")
        return "duckdb"
    adapter = adapter_for(connection)
    if adapter is None:
        raise InputError(
            f"cannot connect to a {type(connection).__name__}. Give a DuckDB connection or the path of a DuckDB file, "
            "a PEP 249 or ADBC connection, a SparkSession, a chdb session or a DataFusion context"
        )
    inferred = dialect or adapter.dialect
    if inferred is None:
        connection_class = f"{type(connection).__module__}.{type(connection).__name__}"
        raise InputError(f"the SQL dialect of a {connection_class} is unknown. Name it with dialect=, one of: {', '.join(DIALECTS)}")
    return inferred
