-- chosen: one row per query to evaluate: the topics that the table of queries holds.
SELECT
  t.group_id,
  t.query_id
FROM topics AS t
JOIN queries AS a ON a.query_id = t.query_id
