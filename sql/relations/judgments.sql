-- judgments: one row per list and judged document, retrieved or not: its relevance.
-- Grain: list_id, doc_id
SELECT
  ranked_lists.list_id,
  qrels.doc_id,
  qrels.relevance -- grade; below 0 if the document was pooled, but not judged
FROM qrels
JOIN ranked_lists ON ranked_lists.group_id = qrels.group_id AND ranked_lists.query_id = qrels.query_id
