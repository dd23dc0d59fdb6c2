-- group_weights: one row per group: number and total weight of its predictions of weight above 0, and if all of these weigh 1.
-- Predictions of weight 0 are left out.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS num_predictions,
  SUM(weight) AS total_weight,
  MIN(CASE WHEN weight = 1 THEN 1 ELSE 0 END) AS is_unweighted -- 1 if all these weights are 1
FROM predictions
WHERE weight > 0
GROUP BY group_id
