-- predictions_with_threshold: one row per prediction, with the lowest score of a positive at or above its own, NULL if there is none.
-- Scope: score (in the row of the input, which has several scores)
-- Grain: rows of predictions
SELECT
  group_id,
  unit_id,
  label,
  score,
  weight,
  MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id ORDER BY score DESC) AS threshold_score
FROM predictions
