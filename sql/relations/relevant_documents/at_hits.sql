-- relevant_documents: one row per list and relevant document, retrieved or not.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: rows of judged_documents
SELECT
  list_id,
  relevance,
  rank, -- position in the list, from 1; NULL if not retrieved
  list_length, -- documents in the list; NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability, -- probability that the document has this rank
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY sort_rank) AS cumulative_hits, -- relevant documents down to this rank
  SUM(doc_count) OVER (PARTITION BY list_id) AS num_relevant -- relevant documents of the list, retrieved or not
FROM (
  -- one row per list and relevant document
  SELECT
    list_id,
    relevance,
    rank,
    list_length,
    doc_count,
    rank_probability,
    CASE WHEN doc_count = 0 THEN 2147483647 WHEN rank IS NULL THEN 2147483646 ELSE rank END AS sort_rank
  FROM judged_documents
  WHERE relevance >= $rel
) AS relevant_judgments
