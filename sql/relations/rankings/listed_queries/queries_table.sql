-- listed_queries: one row per query of the queries table.
-- Grain: query_id
SELECT query_id
FROM queries
