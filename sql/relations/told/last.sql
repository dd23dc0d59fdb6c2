-- told: one row per prediction with the lowest score of a positive that is not below its own, NULL if there is none:
-- the last one that was passed on the way down, which DuckDB carries along faster than it compares.
-- Engine: duckdb.
-- Per score: in the row of the input, where it has several.
SELECT
  group_id,
  unit_id,
  label,
  score,
  weight,
  LAST_VALUE(CASE WHEN label = 1 THEN score END IGNORE NULLS) OVER (PARTITION BY group_id ORDER BY score DESC) AS lowest
FROM predictions
