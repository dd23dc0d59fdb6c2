-- retrieved_documents: one row per retrieved document whose score is among the k highest of its list, or tied with the k-th.
-- Documents without a score rank last, and are not removed.
-- Grain: list_id, doc_id
SELECT
  l.list_id,
  r.doc_id,
  r.score,
  r.rank AS input_rank
FROM run AS r
JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
JOIN top_k_scores AS t ON t.list_id = l.list_id
WHERE r.score IS NULL OR r.score >= t.kth_score
