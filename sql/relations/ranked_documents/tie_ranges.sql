-- ranked_documents: one row per retrieved document, with its rank and the first and the last rank of its tie group.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Tie expectation: spread (over the ranks of a tie group, unless ties are broken)
-- Grain: list_id, doc_id
SELECT
  list_id,
  doc_id,
  rank,
  tie_first_rank,
  tie_last_rank,
  CASE WHEN list_length > $depth THEN $depth ELSE list_length END AS list_length
FROM (
  SELECT
    list_id,
    doc_id,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC, doc_id DESC) AS rank,
    RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_first_rank,
    COUNT(*) OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_last_rank,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length
  FROM retrieved_documents
) AS numbered
