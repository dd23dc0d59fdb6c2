-- list_measures: one row per list: the columns of the queries table that metrics measure, as in Mean(latency_ms).
-- For each: measure (a column that metrics name)
-- Grain: list_id
SELECT ranked_lists.list_id, queries.measure
FROM ranked_lists
LEFT JOIN queries ON queries.query_id = ranked_lists.query_id
