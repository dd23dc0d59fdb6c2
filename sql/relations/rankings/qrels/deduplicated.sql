-- qrels: one row per group, query and judged document, of judgments that may repeat it: its highest relevance.
-- Grain: group_id, query_id, doc_id
SELECT
  group_id, query_id, doc_id,
  MAX(relevance) AS relevance -- the highest of its rows
FROM qrels
GROUP BY group_id, query_id, doc_id
