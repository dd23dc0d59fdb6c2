-- predictions_with_group_size: one row per prediction, with the size of its group: label, score, weight, and the number of predictions of the group.
-- Predictions of weight 0 are left out, and not counted.
-- Grain: rows of predictions
SELECT
  predictions.group_id, predictions.label, predictions.score, predictions.weight,
  group_weights.num_predictions -- predictions of the same group
FROM predictions
JOIN group_weights ON group_weights.group_id = predictions.group_id
WHERE predictions.weight > 0
