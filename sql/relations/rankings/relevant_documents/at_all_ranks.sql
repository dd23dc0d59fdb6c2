-- relevant_documents: one row per list and relevant document, and one per hit and lower rank up to k: relevance, rank, and hits, without doc_id.
-- The sum of cumulative_hits / rank is the sum of the precisions at all ranks, not only at those of relevant documents.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- $k: integer from 1 to 10000: cut-off, the number of precisions that are summed.
-- Nonzero: numbers.number.
-- Grain: many per list_id
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  list_length, -- documents in the list; NULL if not retrieved
  doc_count, -- documents that the row counts as, 0 at lower ranks
  rank_probability, -- probability that the document has this rank
  1 AS hit_probability, -- as in first_hits
  1 / rank AS reciprocal_rank,
  1 AS cumulative_hits -- hits that the row adds at its rank
FROM judged_documents
WHERE relevance >= $rel
UNION ALL
SELECT
  judged_documents.list_id, judged_documents.relevance,
  numbers.number AS rank,
  judged_documents.list_length,
  0 AS doc_count,
  judged_documents.rank_probability,
  1 AS hit_probability,
  1 / numbers.number AS reciprocal_rank,
  1 AS cumulative_hits
FROM judged_documents
JOIN numbers ON numbers.number > judged_documents.rank
WHERE judged_documents.relevance >= $rel AND numbers.number <= $k
