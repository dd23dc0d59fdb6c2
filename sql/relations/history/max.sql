-- history: one row per item of a user, however often it was had.
SELECT
  group_id,
  query_id,
  doc_id
FROM history
GROUP BY group_id, query_id, doc_id
