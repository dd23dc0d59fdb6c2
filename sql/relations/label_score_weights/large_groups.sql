-- label_score_weights: one row per group, label and score of predictions of positive weight, in groups of more than 32: their weight.
-- Grain: group_id, label, score
SELECT
  group_id,
  label,
  score,
  SUM(weight) AS weight
FROM predictions_with_group_size
WHERE num_predictions > 32
GROUP BY group_id, label, score
