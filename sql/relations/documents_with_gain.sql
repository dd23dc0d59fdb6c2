-- documents_with_gain: one row per judged document of positive relevance: the documents that can have a gain.
-- Grain: rows of judged_documents
SELECT
  list_id,
  relevance,
  rank,
  list_length,
  doc_count,
  rank_probability
FROM judged_documents
WHERE relevance > 0
