-- score_class_weights: one row per group and distinct score: weights, squared weights and numbers of each class, label sum, and predictions.
-- Grain: group_id, score
SELECT
  group_id, score,
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives, -- weight of the positives of this score
  SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END) AS positive_squares, -- sum of their squared weights
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives, -- weight of the negatives of this score
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight * weight END) AS negative_squares, -- sum of their squared weights
  SUM(CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END) AS positive_rows, -- positives of positive weight
  SUM(CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END) AS negative_rows, -- negatives of positive weight
  SUM(weight * label) AS label_sum, -- sum of weight times label
  COUNT(*) AS num_rows -- predictions of this score
FROM predictions
GROUP BY group_id, score
