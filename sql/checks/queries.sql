-- What can be wrong with one row of the queries table. Each column counts the rows that break one rule.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id,
  COUNT(*) - COUNT(weight) AS null_weight,
  SUM(CASE WHEN weight < 0 THEN 1 ELSE 0 END) AS negative_weight,
  SUM(CASE WHEN ISNAN(weight) OR ISINF(weight) THEN 1 ELSE 0 END) AS nan_weight
FROM queries
