"""Write trees as SQL text, by layout and rewrites for each dialect; list the names of the supported dialects."""

from __future__ import annotations

DIALECT_NAMES = (
    "duckdb", "bigquery", "snowflake", "spark", "databricks", "postgres", "redshift", "trino", "clickhouse", "datafusion", "sqlite",
)  # fmt: skip
"""Names of the supported dialects, available without the slow import of sqlglot."""
