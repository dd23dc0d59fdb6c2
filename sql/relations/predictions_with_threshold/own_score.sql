-- predictions_with_threshold: one row per prediction, with its own score as its threshold, since threshold_segments has every distinct score.
-- Grain: rows of predictions
SELECT
  group_id,
  unit_id,
  label,
  score,
  weight,
  score AS threshold_score
FROM predictions
