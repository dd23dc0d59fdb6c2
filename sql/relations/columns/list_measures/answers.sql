-- list_measures: one row per list: the columns of the answers table that metrics measure, as in Mean(latency_ms).
-- For each: measure (a column that metrics name)
-- Grain: list_id
SELECT ranked_lists.list_id, answers.measure
FROM ranked_lists
LEFT JOIN answers ON answers.group_id = ranked_lists.group_id AND answers.query_id = ranked_lists.query_id
