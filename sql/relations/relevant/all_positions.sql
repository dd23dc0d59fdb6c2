-- relevant: one row per relevant document, and one more per rank below its own up to k (docs 0), each with hit 1: the
-- sum of hit / rank is then the sum of the precisions at all ranks, not only at those of relevant documents.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- $k: integer from 1 to 10000: cut-off, how many precisions are summed up.
SELECT
  list_id,
  relevance,
  rank,
  num_ret,
  docs,
  chance,
  1 AS hit
FROM judged
WHERE relevance >= $rel
UNION ALL
SELECT
  j.list_id,
  j.relevance,
  n.number AS rank,
  j.num_ret,
  0 AS docs,
  j.chance,
  1 AS hit
FROM judged AS j
JOIN numbers AS n ON n.number > j.rank
WHERE j.relevance >= $rel AND n.number <= $k
