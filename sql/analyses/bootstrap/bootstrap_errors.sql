-- bootstrap_errors: one row per group: the standard deviation of replicates.
-- Grain: group_id
SELECT
  replicate_metrics.group_id,
  SQRT(
    SUM((replicate_metrics.value - observed_metrics.value_mean) * (replicate_metrics.value - observed_metrics.value_mean))
    / NULLIF(MAX(observed_metrics.value_drawn) - 1, 0)
  ) AS value_se
FROM replicate_metrics
JOIN observed_metrics ON observed_metrics.group_id = replicate_metrics.group_id
WHERE replicate_metrics.replicate > 0
GROUP BY replicate_metrics.group_id
