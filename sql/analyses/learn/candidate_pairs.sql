-- candidate_pairs: one row per candidate: mean pAp@k over queries, and the pairs of their highest positives and negatives in the right order.
-- $k: integer from 1: number of negatives and, at most, positives that are compared.
-- Grain: model_id
SELECT
  p.model_id,
  AVG(p.pap) AS mean_pap,
  CAST(ROUND(COALESCE(SUM(p.pap * CASE WHEN q.positives < $k THEN q.positives ELSE $k END * $k), 0)) AS BIGINT) AS pairs
FROM paps AS p
JOIN (
  SELECT query_id, SUM(label) AS positives
  FROM examples
  GROUP BY query_id
) AS q ON q.query_id = p.query_id
GROUP BY p.model_id
ORDER BY p.model_id
