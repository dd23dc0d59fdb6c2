-- retrieved_documents: one row per list and document of one of its k highest scores, ties included, or without a score: score and rank in the run.
-- Documents without a score rank last.
-- Grain: list_id, doc_id
SELECT
  ranked_lists.list_id, run.doc_id, run.score,
  run.rank AS input_rank -- rank column of the run, NULL without one
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
JOIN top_k_scores ON top_k_scores.list_id = ranked_lists.list_id
WHERE run.score IS NULL OR run.score >= top_k_scores.kth_score
