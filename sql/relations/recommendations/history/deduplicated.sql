-- history: one row per group, user and item of a history that may repeat it.
-- Grain: group_id, query_id, doc_id
SELECT group_id, query_id, doc_id
FROM history
GROUP BY group_id, query_id, doc_id
