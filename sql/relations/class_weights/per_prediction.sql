-- class_weights: one row per prediction, with its weight as a positive and as a negative.
-- Grain: rows of predictions
SELECT
  group_id,
  score,
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positives,
  CASE WHEN label = 1 THEN weight * weight ELSE 0 END AS positive_squares,
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives,
  CASE WHEN label = 1 THEN 0 ELSE weight * weight END AS negative_squares,
  CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END AS positive_rows,
  CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END AS negative_rows,
  weight * label AS label_sum,
  1 AS num_rows
FROM predictions
