-- judged_documents: one row per judged document, with its rank, NULL if it was not retrieved.
-- The constants doc_count and rank_probability are columns of the other variants: each row is one document, at its rank with
-- certainty.
-- Materialize: every list is sorted.
-- Grain: rows of judgments
SELECT
  j.list_id,
  j.relevance,
  r.rank,
  r.list_length,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(1 AS DOUBLE) AS rank_probability
FROM judgments AS j
LEFT JOIN ranked_documents AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
