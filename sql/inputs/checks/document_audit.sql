-- document_audit: one row per list: counts of documents of positive relevance and of those retrieved, which detect faulty inputs.
-- A document that occurs twice in a list is joined to its judgment twice. If no document of positive relevance was retrieved for any
-- query, run and judgments may not belong together. A list without any may have found nothing at all.
-- Grain: list_id
SELECT
  list_id,
  SUM(doc_count) AS audit_docs,
  COUNT(rank) AS audit_retrieved,
  CASE WHEN COUNT(rank) > 0 THEN 1 ELSE 0 END AS audit_hit_lists
FROM documents_with_gain
GROUP BY list_id
