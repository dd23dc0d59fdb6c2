-- relevant_baseline_documents: one row per list and rank of a relevant document in the baseline's list: its rank in the list, or NULL.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: list_id, baseline_rank
SELECT
  ranked_lists.list_id,
  baseline_ranks.baseline_rank, -- position in the baseline's list, from 1
  ranked_documents.rank -- position in the list; NULL if not retrieved
FROM baseline_ranks
JOIN ranked_lists
  ON ranked_lists.group_id = baseline_ranks.group_id AND ranked_lists.query_id = baseline_ranks.query_id
JOIN judgments ON judgments.list_id = ranked_lists.list_id AND judgments.doc_id = baseline_ranks.doc_id
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = ranked_lists.list_id AND ranked_documents.doc_id = baseline_ranks.doc_id
WHERE judgments.relevance >= $rel
