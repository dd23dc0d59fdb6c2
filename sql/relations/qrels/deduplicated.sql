-- qrels: one row per query and judged document, with its highest relevance.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id,
  query_id,
  doc_id,
  MAX(relevance) AS relevance
FROM qrels
GROUP BY group_id, query_id, doc_id
