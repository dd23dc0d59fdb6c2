-- ideal_ranking: one row per list and document with gain, and k of relevance 1 per list: relevance, and rank or ideal rank, without doc_id.
-- Rows of documents have no ideal rank, and the k rows of the ideal ranking have no rank.
-- This ideal ranking does not depend on how many relevant documents there are.
-- $k: integer from 1 to 10000: cut-off, the length of the ideal ranking.
-- Grain: many per list_id
SELECT
  list_id, relevance,
  rank, -- position in the list; NULL in the ideal ranking
  doc_count, -- documents that the row counts as
  rank_probability, -- probability of the rank; 0 in the ideal ranking
  CAST(NULL AS BIGINT) AS ideal_rank -- position in the ideal ranking; NULL of documents
FROM documents_with_gain
UNION ALL
SELECT
  gain_lists.list_id,
  1 AS relevance,
  CAST(NULL AS BIGINT) AS rank,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(0 AS DOUBLE) AS rank_probability,
  numbers.number AS ideal_rank
FROM (
  -- one row per list with a document of positive relevance
  SELECT list_id
  FROM documents_with_gain
  GROUP BY list_id
) AS gain_lists
CROSS JOIN numbers
WHERE numbers.number <= $k
