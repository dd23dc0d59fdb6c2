-- answered_lists: one row per list with documents: that of its first document, since to filter ranks that are sorted takes no memory.
-- Grain: list_id
SELECT
  list_id,
  1 AS audit_answered -- lists that the row counts as
FROM ranked_documents
WHERE rank = 1
