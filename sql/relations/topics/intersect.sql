-- topics: one row per query to evaluate: the queries that are both judged and answered.
-- A query stays if all of its rows are left out.
-- Rows: as given.
-- Costly: the run is read for it.
SELECT
  answered.group_id,
  answered.query_id
FROM (SELECT group_id, query_id FROM run GROUP BY group_id, query_id) AS answered
JOIN (SELECT group_id, query_id FROM qrels GROUP BY group_id, query_id) AS asked
  ON asked.group_id = answered.group_id AND asked.query_id = answered.query_id
