-- class_weights: one row per prediction: its score, weight, squared weight and count in columns of its class, and weight times label.
-- Grain: rows of predictions
SELECT
  group_id, score,
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positives, -- weight of a positive, else 0
  CASE WHEN label = 1 THEN weight * weight ELSE 0 END AS positive_squares, -- squared weight of a positive, else 0
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negatives, -- weight of a negative, else 0
  CASE WHEN label = 1 THEN 0 ELSE weight * weight END AS negative_squares, -- squared weight of a negative, else 0
  CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END AS positive_rows, -- 1 for a positive of positive weight, else 0
  CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END AS negative_rows, -- 1 for a negative of positive weight, else 0
  weight * label AS label_sum, -- weight times label
  1 AS num_rows
FROM predictions
