-- What can be wrong with one row of the queries table. Each column counts the rows that break one rule, which its comment says;
-- what stands before a colon is what a metric requires (-- Requires:), and the rule is for those metrics only.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(query_id) AS null_query_id, -- query_id is NULL
  COUNT(*) - COUNT(weight) AS null_weight, -- weight is NULL
  SUM(CASE WHEN weight < 0 THEN 1 ELSE 0 END) AS negative_weight, -- weight is negative
  SUM(CASE WHEN ISNAN(weight) OR ISINF(weight) THEN 1 ELSE 0 END) AS nan_weight -- weight is NaN or infinite
FROM queries
