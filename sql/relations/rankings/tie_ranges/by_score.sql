-- tie_ranges: one row per list and retrieved document: first and last rank of the documents of its score, without doc_id.
-- Grain: rows of retrieved_documents
SELECT
  list_id,
  RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_first_rank, -- first rank of the documents of this score
  COUNT(*) OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_last_rank -- last rank of this score: the frame has all ties, unlike ROWS
FROM retrieved_documents
