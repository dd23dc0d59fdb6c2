-- bucket_score_weights: one row per group and distinct score in its bucket: weights of its positives and of its negatives.
-- They are summed by class_weights already.
-- Grain: rows of bucketed_scores
SELECT
  group_id,
  bucket, -- number of the bucket, ascending with the score
  score,
  positives, -- weight of the positives of this score
  positive_squares,
  negatives, -- weight of the negatives of this score
  negative_squares,
  positive_rows,
  negative_rows,
  label_sum,
  num_rows
FROM bucketed_scores
