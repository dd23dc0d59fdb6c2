-- document_gains: one row per document of positive relevance, with the gain that sorts the ideal ranking.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  relevance,
  rank,
  list_length,
  doc_count,
  rank_probability,
  doc_count * gain(relevance) AS doc_gain
FROM documents_with_gain
