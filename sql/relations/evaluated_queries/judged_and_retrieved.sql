-- evaluated_queries: one row per query to evaluate, a query with both judgments and retrieved documents.
-- A query remains even if a policy removes all of its rows.
-- Reads: unfiltered.
-- Materialize: the run is scanned for its queries.
-- Grain: group_id, query_id
SELECT
  answered.group_id,
  answered.query_id
FROM (SELECT group_id, query_id FROM run GROUP BY group_id, query_id) AS answered
JOIN (SELECT group_id, query_id FROM qrels GROUP BY group_id, query_id) AS asked
  ON asked.group_id = answered.group_id AND asked.query_id = answered.query_id
