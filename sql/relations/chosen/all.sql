-- chosen: one row per query to evaluate: all topics.
SELECT
  group_id,
  query_id
FROM topics
