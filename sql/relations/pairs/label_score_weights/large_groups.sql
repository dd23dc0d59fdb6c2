-- label_score_weights: one row per group, label and score, in groups of more than 32 predictions: total weight of its predictions.
-- Predictions of weight 0 are left out.
-- Grain: group_id, label, score
SELECT
  group_id, label, score,
  SUM(weight) AS weight
FROM predictions_with_group_size
WHERE num_predictions > 32
GROUP BY group_id, label, score
