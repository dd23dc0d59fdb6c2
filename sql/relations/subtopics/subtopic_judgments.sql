-- subtopic_judgments: one row per list, subtopic and document that is judged relevant for it, including those not retrieved.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Reads: with duplicates.
-- Grain: list_id, doc_id, subtopic
SELECT
  ranked_lists.list_id, qrels.doc_id,
  qrels.subtopic -- subtopic, nugget or intent
FROM qrels
JOIN ranked_lists ON ranked_lists.group_id = qrels.group_id AND ranked_lists.query_id = qrels.query_id
WHERE qrels.relevance >= $rel
GROUP BY ranked_lists.list_id, qrels.doc_id, qrels.subtopic
