-- ranked_predictions: one row per prediction of positive weight: score, weight, weight times label, and numbers of predictions of lower scores and of all.
-- Grain: rows of predictions
SELECT
  group_id, score, weight,
  weight * label AS label_sum, -- weight times label
  RANK() OVER (PARTITION BY group_id ORDER BY score) - 1 AS rows_below, -- predictions of lower scores
  COUNT(*) OVER (PARTITION BY group_id) AS total_rows
FROM predictions
WHERE weight > 0
