-- list_ranks: one row per query of which ranks are not 1, 2, 3 to the number of its documents: that number, and its least and greatest rank.
-- The last condition is left out where positions may have gaps.
-- Grain: query_id
SELECT
  query_id,
  COUNT(*) AS documents,
  COUNT(DISTINCT rank) AS ranks,
  MIN(rank) AS least_rank,
  MAX(rank) AS greatest_rank
FROM run
GROUP BY query_id
HAVING
  COUNT(DISTINCT rank) <> COUNT(*)
  OR MIN(rank) < 1
  OR SUM(CASE WHEN rank <> FLOOR(rank) THEN 1 ELSE 0 END) > 0
  OR MAX(rank) <> COUNT(*)
