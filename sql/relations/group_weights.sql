-- group_weights: one row per group, with its number of predictions of positive weight, their total weight, and whether all weights are 1.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS num_predictions,
  SUM(weight) AS total_weight,
  CASE WHEN MIN(weight) = 1 AND MAX(weight) = 1 THEN 1 ELSE 0 END AS is_unweighted
FROM predictions
WHERE weight > 0
GROUP BY group_id
