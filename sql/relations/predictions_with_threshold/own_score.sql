-- predictions_with_threshold: one row per prediction, assigned to its own score, since every distinct score is a threshold.
-- Grain: rows of predictions
SELECT
  group_id,
  unit_id,
  label,
  score,
  weight,
  score AS threshold_score -- its own score
FROM predictions
