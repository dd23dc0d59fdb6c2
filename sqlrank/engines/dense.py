"""Groups by small whole numbers, which DuckDB can look up by their place instead of by a hash."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlrank.engines.settings import put, put_back

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

SETTING, BITS = "perfect_ht_threshold", 20
"""How many places each thread may have for groups, as a power of two: those of a thousand slices of a thousand bins take some 80 MB."""


def dense(connection: duckdb.DuckDBPyConnection, text: str) -> pa.Table:
    """Return the result of a text, in which groups are looked up by place if the numbers that tell them apart are near each other."""
    with _set(connection):
        return connection.sql(text).to_arrow_table()


@contextmanager
def _set(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    previous = connection.execute("SELECT CURRENT_SETTING(?)", [SETTING]).fetchall()[0][0]
    put(connection, SETTING, BITS)
    try:
        yield
    finally:
        put_back(connection, SETTING, previous)
