"""Write SQL functions of metrics to install in a database: functions of tables, aggregates, and functions of lists."""

DEFAULT_SCHEMA = "sqlrank"
"""Schema of the functions."""

FUNCTION_DIALECTS = ("duckdb", "bigquery", "clickhouse", "databricks", "postgres", "snowflake", "spark")
"""Dialects for which there are functions; here, because help imports no engine."""
