-- history: one row per user and item of the user's history.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id,
  query_id,
  doc_id
FROM history
GROUP BY group_id, query_id, doc_id
