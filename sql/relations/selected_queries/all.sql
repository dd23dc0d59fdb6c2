-- selected_queries: one row per group and query to evaluate.
-- Grain: group_id, query_id
SELECT
  group_id,
  query_id
FROM evaluated_queries
