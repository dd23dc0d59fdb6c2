"""Where statements run: dialects and how they are written, databases, and the sources that they hold."""

from __future__ import annotations

DIALECT_NAMES = (
    "duckdb", "bigquery", "snowflake", "spark", "databricks", "postgres", "redshift", "trino", "clickhouse", "datafusion", "sqlite",
)  # fmt: skip
"""What statements are written in: known without what writes them, which takes a quarter of a second to import."""
