-- class_weights: one row per group and distinct score, with the weight of each class.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives,
  positive_squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  label_sum,
  num_rows
FROM score_class_weights
