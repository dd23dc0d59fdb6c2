-- topics: one row per query to evaluate: every query with an answer, judged or not.
SELECT
  group_id,
  query_id
FROM run
GROUP BY group_id, query_id
