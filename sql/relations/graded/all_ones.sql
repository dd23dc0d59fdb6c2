-- graded: one row per document of positive relevance, without a place in the ideal order; that is k documents of
-- relevance 1 instead, however many there are.
-- $k: integer from 1 to 10000: cut-off, the length of the ideal list.
SELECT
  list_id,
  relevance,
  rank,
  docs,
  chance,
  CAST(NULL AS BIGINT) AS ideal_rank
FROM valued
UNION ALL
SELECT
  l.list_id,
  1 AS relevance,
  CAST(NULL AS BIGINT) AS rank,
  CAST(1 AS DOUBLE) AS docs,
  CAST(0 AS DOUBLE) AS chance,
  n.number AS ideal_rank
FROM (SELECT list_id FROM valued GROUP BY list_id) AS l
CROSS JOIN numbers AS n
WHERE n.number <= $k
