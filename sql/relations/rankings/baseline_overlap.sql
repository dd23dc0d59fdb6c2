-- baseline_overlap: one row per list and rank of a retrieved document: its rank in the baseline's list, NULL if it is not there.
-- Grain: list_id, rank
SELECT
  ranked_documents.list_id,
  ranked_documents.rank, -- position in the list, from 1
  baseline_ranks.baseline_rank, -- position in the baseline's list; NULL if not in it
  CASE
    WHEN ranked_documents.rank > baseline_ranks.baseline_rank THEN ranked_documents.rank
    ELSE baseline_ranks.baseline_rank
  END AS overlap_depth -- depth at which both have it; NULL if the baseline doesn't
FROM ranked_documents
JOIN ranked_lists ON ranked_lists.list_id = ranked_documents.list_id
LEFT JOIN baseline_ranks
  ON baseline_ranks.group_id = ranked_lists.group_id
  AND baseline_ranks.query_id = ranked_lists.query_id
  AND baseline_ranks.doc_id = ranked_documents.doc_id
