-- evaluated_queries: one row per group and query with judgments, even if nothing was retrieved.
-- A query remains even if a policy removes all of its rows.
-- Scope: system (every query is evaluated for every system of the run)
-- Reads: unfiltered.
-- Grain: group_id, query_id
SELECT group_id, query_id
FROM qrels
GROUP BY group_id, query_id
