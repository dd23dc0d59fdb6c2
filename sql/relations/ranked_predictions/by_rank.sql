-- ranked_predictions: one row per prediction, with the number of predictions of lower scores.
-- Grain: rows of predictions
SELECT
  group_id,
  score,
  weight,
  weight * label AS label_sum,
  RANK() OVER (PARTITION BY group_id ORDER BY score) - 1 AS rows_below,
  COUNT(*) OVER (PARTITION BY group_id) AS total_rows
FROM predictions
