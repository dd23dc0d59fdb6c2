-- ranked_documents: one row per list and retrieved document, with its rank: rank, and list length.
-- ties chooses document_rank().
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id, doc_id
SELECT
  list_id, doc_id,
  rank, -- position in the list, from 1
  CASE WHEN list_length > $depth THEN $depth ELSE list_length END AS list_length -- documents in the list, at most the depth
FROM (
  -- one row per list and retrieved document
  SELECT
    list_id, doc_id,
    document_rank(list_id, score, input_rank, doc_id) AS rank,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length
  FROM retrieved_documents
) AS numbered_documents
WHERE rank <= $depth
