-- relevant_documents: one row per relevant document, and one per retrieved relevant document and lower rank down to k.
-- Each row has cumulative_hits 1, so that the sum of cumulative_hits / rank is the sum of the precisions at all ranks, not only at
-- those of relevant documents. Rows of lower ranks count no document (doc_count 0).
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- $k: integer from 1 to 10000: cut-off, the number of precisions that are summed.
-- Grain: many per list_id
SELECT
  list_id,
  relevance,
  rank,
  list_length,
  doc_count,
  rank_probability,
  1 AS cumulative_hits
FROM judged_documents
WHERE relevance >= $rel
UNION ALL
SELECT
  j.list_id,
  j.relevance,
  n.number AS rank,
  j.list_length,
  0 AS doc_count,
  j.rank_probability,
  1 AS cumulative_hits
FROM judged_documents AS j
JOIN numbers AS n ON n.number > j.rank
WHERE j.relevance >= $rel AND n.number <= $k
