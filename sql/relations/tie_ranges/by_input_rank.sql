-- tie_ranges: one row per retrieved document, with the first and the last rank of the documents of the same input rank.
-- Grain: rows of retrieved_documents
SELECT
  list_id,
  RANK() OVER (PARTITION BY list_id ORDER BY input_rank) AS tie_first_rank,
  COUNT(*) OVER (PARTITION BY list_id ORDER BY input_rank) AS tie_last_rank
FROM retrieved_documents
