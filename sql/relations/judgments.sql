-- judgments: one row per list and document of its judgments, retrieved or not: its grade, below 0 if it was pooled but not judged.
-- Grain: list_id, doc_id
SELECT
  ranked_lists.list_id,
  qrels.doc_id,
  qrels.relevance -- grade; below 0 if the document was pooled, but not judged
FROM qrels
JOIN ranked_lists ON ranked_lists.group_id = qrels.group_id AND ranked_lists.query_id = qrels.query_id
