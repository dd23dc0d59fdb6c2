-- tie_ranges: one row per list and retrieved document: first and last rank of the documents of its input rank, without doc_id.
-- Grain: rows of retrieved_documents
SELECT
  list_id,
  RANK() OVER (PARTITION BY list_id ORDER BY input_rank) AS tie_first_rank, -- first rank of the documents of this input rank
  COUNT(*) OVER (PARTITION BY list_id ORDER BY input_rank) AS tie_last_rank -- last rank of the documents of this input rank
FROM retrieved_documents
