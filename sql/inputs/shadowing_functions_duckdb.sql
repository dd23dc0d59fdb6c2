-- shadowing_functions_duckdb: one row per function that DuckDB statements can call, with its schema, and whether it is built in.
-- Grain: many per function_name
SELECT function_name, database_name, schema_name, internal FROM system.main.DUCKDB_FUNCTIONS()
