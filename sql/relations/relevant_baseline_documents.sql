-- relevant_baseline_documents: one row per ranked list and relevant document of the baseline, with its rank in the baseline and in the
-- list, NULL if not retrieved.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: list_id, baseline_rank
SELECT
  l.list_id,
  b.baseline_rank,
  r.rank
FROM baseline_ranks AS b
JOIN ranked_lists AS l ON l.group_id = b.group_id AND l.query_id = b.query_id
JOIN judgments AS j ON j.list_id = l.list_id AND j.doc_id = b.doc_id
LEFT JOIN ranked_documents AS r ON r.list_id = l.list_id AND r.doc_id = b.doc_id
WHERE j.relevance >= $rel
