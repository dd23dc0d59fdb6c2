-- predictions_with_group_size: one row per prediction of positive weight: label, score, weight, and the number of such predictions in its group.
-- Predictions of weight 0 are left out.
-- Grain: rows of predictions
SELECT
  predictions.group_id,
  predictions.label,
  predictions.score,
  predictions.weight,
  group_weights.num_predictions -- predictions of positive weight in the group
FROM predictions
JOIN group_weights ON group_weights.group_id = predictions.group_id
WHERE predictions.weight > 0
