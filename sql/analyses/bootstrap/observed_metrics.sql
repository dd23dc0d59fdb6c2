-- observed_metrics: one row per group: every metric as it was seen, and the mean of its replicates.
-- A column that begins with value stands for that of each metric.
-- Grain: group_id
SELECT
  group_id,
  MAX(CASE WHEN replicate = 0 THEN value END) AS value,
  AVG(CASE WHEN replicate > 0 THEN value END) AS value_mean,
  COUNT(CASE WHEN replicate > 0 THEN value END) AS value_drawn
FROM replicate_metrics
GROUP BY group_id
