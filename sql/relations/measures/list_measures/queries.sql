-- list_measures: one row per list: the columns of the queries table that metrics measure, as in Mean(latency_ms).
-- Python adds a column for each that a metric names.
-- Scope: measured (it has the columns that metrics name)
-- Grain: list_id
SELECT ranked_lists.list_id
FROM ranked_lists
LEFT JOIN queries ON queries.query_id = ranked_lists.query_id
