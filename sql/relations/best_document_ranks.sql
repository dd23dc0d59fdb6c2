-- best_document_ranks: one row per group and retrieved document, with its best rank over the ranked lists of the group.
-- Grain: group_id, doc_id
SELECT
  m.group_id,
  r.doc_id,
  MIN(r.rank) AS best_rank
FROM ranked_documents AS r
JOIN list_groups AS m ON m.list_id = r.list_id
GROUP BY m.group_id, r.doc_id
