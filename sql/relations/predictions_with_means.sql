-- predictions_with_means: one row per prediction, with the weighted mean label and score of its group.
-- Sampling unit: predictions.
-- Grain: rows of predictions
SELECT
  p.group_id,
  p.unit_id,
  p.label,
  p.score,
  p.weight,
  m.mean_label,
  m.mean_score
FROM predictions AS p
JOIN label_score_means AS m ON m.group_id = p.group_id
