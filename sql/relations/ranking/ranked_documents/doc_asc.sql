-- ranked_documents: one row per list and retrieved document, ranked by score, ties by doc_id, smallest first: rank, and list length.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id, doc_id
SELECT
  list_id,
  doc_id,
  rank, -- position in the list, from 1
  CASE WHEN list_length > $depth THEN $depth ELSE list_length END AS list_length -- documents in the list, at most the depth
FROM (
  -- one row per list and retrieved document
  SELECT
    list_id,
    doc_id,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id) AS rank,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length
  FROM retrieved_documents
) AS numbered_documents
WHERE rank <= $depth
