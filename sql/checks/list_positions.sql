-- list_positions: one row per query whose ranks are not whole numbers from 1, each once: its number of documents, and its least and greatest rank.
-- Grain: query_id
SELECT
  query_id,
  COUNT(*) AS documents,
  COUNT(DISTINCT rank) AS ranks,
  MIN(rank) AS least_rank,
  MAX(rank) AS greatest_rank
FROM run
GROUP BY query_id
HAVING COUNT(DISTINCT rank) <> COUNT(*) OR MIN(rank) < 1 OR SUM(CASE WHEN rank <> FLOOR(rank) THEN 1 ELSE 0 END) > 0
