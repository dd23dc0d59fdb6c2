-- relevant_documents: one row per list and relevant document: relevance, rank, list length, hits down to its rank, and number of relevant ones.
-- Rows have no doc_id.
-- doc_count and rank_probability are 1, except under ties=expected, where a document has several possible ranks.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: rows of judged_documents
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  list_length, -- documents in the list; NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability, -- probability that the document has this rank
  1 AS hit_probability, -- as in first_hits
  1 / rank AS reciprocal_rank,
  ROW_NUMBER() OVER (
    PARTITION BY list_id ORDER BY CASE WHEN doc_count = 0 THEN 2 WHEN rank IS NULL THEN 1 ELSE 0 END, rank
  ) AS cumulative_hits, -- relevant documents at this rank or above
  SUM(doc_count) OVER (PARTITION BY list_id) AS num_relevant -- relevant documents of the list, retrieved or not
FROM judged_documents
WHERE relevance >= $rel
