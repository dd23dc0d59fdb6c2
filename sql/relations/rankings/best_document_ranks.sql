-- best_document_ranks: one row per group and document retrieved in any of its lists: its lowest rank in these lists.
-- Grain: group_id, doc_id
SELECT
  list_groups.group_id, ranked_documents.doc_id,
  MIN(ranked_documents.rank) AS best_rank -- the lowest rank in these lists
FROM ranked_documents
JOIN list_groups ON list_groups.list_id = ranked_documents.list_id
GROUP BY list_groups.group_id, ranked_documents.doc_id
