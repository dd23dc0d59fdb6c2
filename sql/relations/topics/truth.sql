-- topics: one row per query to evaluate: every query with a judgment, answered or not.
-- Per system: a query is asked of each that the run has.
-- A query stays if all of its rows are left out.
-- Rows: as given.
SELECT
  group_id,
  query_id
FROM qrels
GROUP BY group_id, query_id
