-- bucket_scores: one row per distinct score with its bucket and the weight of each class, added up.
SELECT
  group_id,
  bucket,
  score,
  SUM(positives) AS positives,
  SUM(squares) AS squares,
  SUM(negatives) AS negatives,
  SUM(negative_squares) AS negative_squares,
  SUM(positive_rows) AS positive_rows,
  SUM(negative_rows) AS negative_rows,
  SUM(observed) AS observed,
  SUM(tied_rows) AS tied_rows
FROM placed
GROUP BY group_id, bucket, score
