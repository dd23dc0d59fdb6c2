-- candidate_pairs: one row per candidate: mean pAp@k over queries, and the pairs of their highest positives and negatives in the right order.
-- $k: integer from 1: number of negatives and, at most, positives that are compared.
-- Grain: model_id
SELECT
  paps.model_id,
  AVG(paps.pap) AS mean_pap,
  CAST(ROUND(COALESCE(SUM(
    paps.pap * CASE WHEN query_positives.positives < $k THEN query_positives.positives ELSE $k END * $k
  ), 0)) AS BIGINT) AS pairs
FROM paps
JOIN (
  -- one row per query: its positives
  SELECT query_id, SUM(label) AS positives
  FROM examples
  GROUP BY query_id
) AS query_positives ON query_positives.query_id = paps.query_id
GROUP BY paps.model_id
ORDER BY paps.model_id
