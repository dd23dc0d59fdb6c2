-- parquet_files: one row per set of Parquet files whose columns, nested ones included, have the same names and types.
-- $path: list: the files.
-- Grain: files
SELECT LIST(file_name ORDER BY file_name) AS files
FROM (
  -- one row per file
  SELECT file_name, LIST(name || ' ' || duckdb_type ORDER BY name, duckdb_type) AS columns
  FROM PARQUET_SCHEMA($path)
  WHERE duckdb_type IS NOT NULL
  GROUP BY file_name
) AS schemas
GROUP BY columns
ORDER BY MIN(file_name)
