-- ideal_ranking: one row per document of positive relevance, and k documents of relevance 1 per ranked list as its ideal ranking.
-- The judged documents have no rank in this ideal ranking, which does not depend on how many there are.
-- $k: integer from 1 to 10000: cut-off, the length of the ideal ranking.
-- Grain: many per list_id
SELECT
  list_id,
  relevance,
  rank,
  doc_count,
  rank_probability,
  CAST(NULL AS BIGINT) AS ideal_rank
FROM documents_with_gain
UNION ALL
SELECT
  l.list_id,
  1 AS relevance,
  CAST(NULL AS BIGINT) AS rank,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(0 AS DOUBLE) AS rank_probability,
  n.number AS ideal_rank
FROM (SELECT list_id FROM documents_with_gain GROUP BY list_id) AS l
CROSS JOIN numbers AS n
WHERE n.number <= $k
