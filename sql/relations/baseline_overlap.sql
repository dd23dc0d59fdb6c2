-- baseline_overlap: one row per retrieved document, with its rank in the baseline run, NULL if the baseline did not retrieve it.
-- Grain: list_id, rank
SELECT
  r.list_id,
  r.rank,
  b.baseline_rank
FROM ranked_documents AS r
JOIN ranked_lists AS l ON l.list_id = r.list_id
LEFT JOIN baseline_ranks AS b ON b.group_id = l.group_id AND b.query_id = l.query_id AND b.doc_id = r.doc_id
