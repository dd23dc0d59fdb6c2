-- documents_with_gain: one row per list and document of positive relevance: relevance, rank, its probability, list length, and doc_count.
-- Rows have no doc_id.
-- doc_count and rank_probability are 1, except under ties=expected, where a document has several possible ranks.
-- Grain: rows of judged_documents
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  list_length, -- documents in the list; NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability -- probability that the document has this rank
FROM judged_documents
WHERE relevance > 0
