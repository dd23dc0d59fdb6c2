-- predictions_with_group_size: one row per prediction of positive weight, with the number of predictions of its group.
-- Grain: rows of predictions
SELECT
  p.group_id,
  p.label,
  p.score,
  p.weight,
  x.num_predictions
FROM predictions AS p
JOIN group_weights AS x ON x.group_id = p.group_id
WHERE p.weight > 0
