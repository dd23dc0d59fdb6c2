-- selected_queries: one row per query to evaluate.
SELECT
  group_id,
  query_id
FROM evaluated_queries
