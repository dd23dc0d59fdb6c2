-- label_score_weights: one row per distinct label and score of a group of more than 32 predictions, with its weight.
-- Grain: group_id, label, score
SELECT
  group_id,
  label,
  score,
  SUM(weight) AS weight
FROM predictions_with_group_size
WHERE num_predictions > 32
GROUP BY group_id, label, score
