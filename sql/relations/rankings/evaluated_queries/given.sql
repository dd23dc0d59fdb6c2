-- evaluated_queries: one row per group and query of the input that lists queries, even without judgments or retrieved documents.
-- A query remains even if a policy removes all of its rows.
-- Scope: system (every query is evaluated for every system of the run)
-- Reads: unfiltered.
-- Grain: group_id, query_id
SELECT group_id, query_id
FROM listed_queries
