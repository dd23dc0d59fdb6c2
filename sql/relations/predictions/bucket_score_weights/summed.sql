-- bucket_score_weights: one row per group and distinct score: its bucket, class weights, squared weights, class counts, label sum, and predictions.
-- Grain: group_id, score
SELECT
  group_id,
  bucket, -- number of the bucket, ascending with the score
  score,
  SUM(positives) AS positives, -- weight of the positives of this score
  SUM(positive_squares) AS positive_squares, -- sum of their squared weights
  SUM(negatives) AS negatives, -- weight of the negatives of this score
  SUM(negative_squares) AS negative_squares, -- sum of their squared weights
  SUM(positive_rows) AS positive_rows, -- positives of positive weight
  SUM(negative_rows) AS negative_rows, -- negatives of positive weight
  SUM(label_sum) AS label_sum, -- sum of weight times label
  SUM(num_rows) AS num_rows -- predictions of this score
FROM bucketed_scores
GROUP BY group_id, bucket, score
