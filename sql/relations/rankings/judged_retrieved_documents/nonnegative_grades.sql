-- judged_retrieved_documents: one row per list and rank of a document of grade 0 or more, and one without a rank per list not empty: list length.
-- Grain: list_id, rank
SELECT
  list_id,
  CAST(NULL AS BIGINT) AS rank, -- position in the list; NULL in the row of the list
  list_length -- documents in the list
FROM list_lengths
UNION ALL
SELECT list_id, rank, list_length
FROM judged_documents
WHERE rank IS NOT NULL AND relevance >= 0
