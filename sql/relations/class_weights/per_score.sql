-- class_weights: one row per group and distinct score: weights of its positives and of its negatives.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives, -- weight of the positives of this score
  positive_squares, -- sum of their squared weights
  negatives, -- weight of the negatives of this score
  negative_squares, -- sum of their squared weights
  positive_rows, -- positives of positive weight
  negative_rows, -- negatives of positive weight
  label_sum, -- sum of weight times label
  num_rows -- predictions of this score
FROM score_class_weights
