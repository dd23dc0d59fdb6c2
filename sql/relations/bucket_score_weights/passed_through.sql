-- bucket_score_weights: one row per group and distinct score, with its bucket and the weight of each class, which class_weights has summed already.
-- Grain: rows of bucketed_scores
SELECT
  group_id,
  bucket,
  score,
  positives,
  positive_squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  label_sum,
  num_rows
FROM bucketed_scores
