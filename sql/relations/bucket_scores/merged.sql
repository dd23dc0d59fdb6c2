-- bucket_scores: one row per distinct score with its bucket and the weight of each class, which have been added up already.
SELECT
  group_id,
  bucket,
  score,
  positives,
  squares,
  negatives,
  negative_squares,
  positive_rows,
  negative_rows,
  observed,
  tied_rows
FROM placed
