-- selected_queries: one row per query to evaluate that the queries table has.
-- Grain: group_id, query_id
SELECT
  t.group_id,
  t.query_id
FROM evaluated_queries AS t
JOIN queries AS a ON a.query_id = t.query_id
