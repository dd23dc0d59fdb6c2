-- preferences: one row per judged document (negative relevance: pooled, but not judged) with the counts that
-- preference metrics compare: how many judged documents of each kind stand above it.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
SELECT
  list_id,
  relevance,
  rank,
  SUM(CASE WHEN relevance >= $rel THEN 1 ELSE 0 END) OVER (PARTITION BY list_id) AS num_rel,
  SUM(CASE WHEN relevance >= 0 AND relevance < $rel THEN 1 ELSE 0 END) OVER (PARTITION BY list_id) AS num_nonrel,
  SUM(CASE WHEN relevance >= $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) - 1 AS rel_above,
  SUM(CASE WHEN relevance >= 0 AND relevance < $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS nonrel_above,
  SUM(CASE WHEN relevance < 0 THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS unjudged_above
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    CASE WHEN rank IS NULL THEN 2147483647 ELSE rank END AS place
  FROM judged
) AS placed
