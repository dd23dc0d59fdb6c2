-- list_audit: one row per list of answers: the counts of document_audit, and of ids that are NULL, for which no other statement reads the lists.
-- Grain: list_id
SELECT
  list_id,
  SUM(CASE WHEN relevance > 0 THEN 1 ELSE 0 END) AS audit_docs,
  COUNT(CASE WHEN relevance > 0 THEN document_rank END) AS audit_retrieved,
  CASE WHEN COUNT(CASE WHEN relevance > 0 THEN document_rank END) > 0 THEN 1 ELSE 0 END AS audit_hit_lists,
  MAX(num_repeated) AS audit_num_duplicates,
  MAX(num_null_ids) AS audit_invalid_rows
FROM searched_lists
GROUP BY list_id
