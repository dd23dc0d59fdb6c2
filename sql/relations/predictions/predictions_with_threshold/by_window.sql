-- predictions_with_threshold: one row per prediction: unit, label, score, weight, and the lowest score of a positive that is at or above its own.
-- Scope: score (in the row of the input, which has several scores)
-- Grain: rows of predictions
SELECT
  group_id, unit_id, label, score, weight,
  MIN(CASE WHEN label = 1 THEN score END) OVER (
    PARTITION BY group_id ORDER BY score DESC
  ) AS threshold_score -- NULL above the highest score of a positive
FROM predictions
