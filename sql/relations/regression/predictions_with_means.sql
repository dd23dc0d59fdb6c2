-- predictions_with_means: one row per prediction: its unit, label, score and weight, and the mean label and mean score of its group.
-- Sampling unit: predictions.
-- Grain: rows of predictions
SELECT
  predictions.group_id, predictions.unit_id, predictions.label, predictions.score,
  predictions.weight,
  label_score_means.mean_label, -- weighted mean of the group
  label_score_means.mean_score -- weighted mean of the group
FROM predictions
JOIN label_score_means ON label_score_means.group_id = predictions.group_id
