-- relevant_documents: one row per relevant document, with its cumulative number in the order of ranks; documents not retrieved are last.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: rows of judged_documents
SELECT
  list_id,
  relevance,
  rank,
  list_length,
  doc_count,
  rank_probability,
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY sort_rank) AS cumulative_hits,
  SUM(doc_count) OVER (PARTITION BY list_id) AS num_relevant
FROM (
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
) AS placed
