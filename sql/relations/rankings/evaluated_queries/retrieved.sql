-- evaluated_queries: one row per group and query that has retrieved documents, judged or not.
-- A query remains even if a policy removes all of its rows.
-- Reads: unfiltered.
-- Materialize: the run is scanned for its queries.
-- Grain: group_id, query_id
SELECT group_id, query_id
FROM run
GROUP BY group_id, query_id
