"""Statements executed on real engines, and compared with what DuckDB computes."""
