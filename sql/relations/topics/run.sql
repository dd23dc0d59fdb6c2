-- topics: one row per query to evaluate: every query with an answer, judged or not.
-- A query stays if all of its rows are left out.
-- Rows: as given.
-- Costly: the run is read for it.
SELECT
  group_id,
  query_id
FROM run
GROUP BY group_id, query_id
