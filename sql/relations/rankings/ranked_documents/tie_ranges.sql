-- ranked_documents: one row per list and retrieved document, ranked by score: rank, first and last rank of its tie group, and list length.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Tie expectation: spread (over the ranks of a tie group, unless ties are broken)
-- Grain: list_id, doc_id
SELECT
  list_id, doc_id,
  rank, -- position in the list, from 1; ties by doc_id
  tie_first_rank, -- first rank of the documents of this score
  tie_last_rank, -- last rank of the documents of this score
  CASE WHEN list_length > $depth THEN $depth ELSE list_length END AS list_length -- documents in the list, at most the depth
FROM (
  -- one row per list and retrieved document
  SELECT
    list_id, doc_id,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank,
    RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_first_rank,
    COUNT(*) OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_last_rank,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length
  FROM retrieved_documents
) AS numbered_documents
