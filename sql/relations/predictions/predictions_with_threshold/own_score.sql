-- predictions_with_threshold: one row per prediction: unit, label, score, weight, and its own score as threshold, since every score is one.
-- Grain: rows of predictions
SELECT
  group_id, unit_id, label, score, weight,
  score AS threshold_score -- its own score
FROM predictions
