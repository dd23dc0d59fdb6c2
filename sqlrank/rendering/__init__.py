"""Write trees as SQL text, by layout and rewrites for each dialect; list the names of the supported dialects."""

from __future__ import annotations

DIALECT_NAMES = (
    "duckdb", "bigquery", "snowflake", "spark", "databricks", "postgres", "redshift", "trino", "clickhouse", "datafusion", "sqlite",
)  # fmt: skip
"""Names of the supported dialects, available without the slow import of sqlglot."""

DIALECT_ALIASES = {
    "postgresql": "postgres", "pg": "postgres", "motherduck": "duckdb", "athena": "trino", "presto": "trino", "sparksql": "spark",
    "googlesql": "bigquery", "sqlite3": "sqlite",
}  # fmt: skip
"""Other names of dialects, in lower case."""


def normalize_dialect(name: str) -> str:
    """Return the name of a dialect for one in other letters, or for that of an engine that reads it; others as they are.

    >>> normalize_dialect("Snowflake"), normalize_dialect("PostgreSQL"), normalize_dialect("oracle")
    ('snowflake', 'postgres', 'oracle')
    """
    lowered = name.lower()
    return DIALECT_ALIASES.get(lowered, lowered if lowered in DIALECT_NAMES else name)
