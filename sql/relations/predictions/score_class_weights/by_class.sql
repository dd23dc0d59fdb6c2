-- score_class_weights: one row per group and distinct score: weights, squares and numbers of each class, label sum, predictions, from a row of each.
-- Grain: group_id, score
SELECT
  group_id, score,
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) AS positives, -- weight of the positives of this score
  SUM(CASE WHEN label = 1 THEN weight_squares ELSE 0 END) AS positive_squares, -- sum of their squared weights
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives, -- weight of the negatives of this score
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight_squares END) AS negative_squares, -- sum of their squared weights
  SUM(CASE WHEN label = 1 THEN num_units ELSE 0 END) AS positive_rows, -- positives of positive weight
  SUM(CASE WHEN label = 1 THEN 0 ELSE num_units END) AS negative_rows, -- negatives of positive weight
  SUM(label_sum) AS label_sum, -- sum of weight times label
  SUM(num_rows) AS num_rows -- predictions of this score
FROM tied_predictions
GROUP BY group_id, score
