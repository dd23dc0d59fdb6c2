-- bucket_score_weights: one row per group and distinct score, with its bucket and the weight of each class.
-- Grain: group_id, score
SELECT
  group_id,
  bucket,
  score,
  SUM(positives) AS positives,
  SUM(positive_squares) AS positive_squares,
  SUM(negatives) AS negatives,
  SUM(negative_squares) AS negative_squares,
  SUM(positive_rows) AS positive_rows,
  SUM(negative_rows) AS negative_rows,
  SUM(label_sum) AS label_sum,
  SUM(num_rows) AS num_rows
FROM bucketed_scores
GROUP BY group_id, bucket, score
