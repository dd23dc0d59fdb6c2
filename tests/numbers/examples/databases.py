"""The database in which the examples are evaluated."""

from functools import cache

import duckdb


@cache
def get_database() -> duckdb.DuckDBPyConnection:
    """Return one database for all calls, since to open one takes longer than to evaluate a few
    rows.
    """
    return duckdb.connect(config={"threads": 1})
