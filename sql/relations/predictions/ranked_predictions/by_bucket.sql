-- ranked_predictions: one row per group and distinct score of positive weight: weight, label sum, predictions below it (counted by bucket), and all predictions.
-- Buckets below are counted by bucket_sums, and lower scores of the same bucket by a window over the bucket.
-- Grain: group_id, score
SELECT
  bucket_scores.group_id, bucket_scores.score,
  bucket_scores.weight, -- of the predictions of this score
  bucket_scores.label_sum, -- sum of weight times label
  bucket_sums.rows_below + bucket_scores.bucket_rows_below AS rows_below, -- predictions of lower scores
  bucket_sums.counted_rows AS total_rows
FROM (
  -- one row per group and distinct score
  SELECT
    bucket_score_weights.*,
    positives + negatives AS weight,
    COALESCE(SUM(positive_rows + negative_rows) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_rows_below -- of lower scores in the bucket
  FROM bucket_score_weights
  WHERE positives + negatives > 0
) AS bucket_scores
JOIN bucket_sums
  ON bucket_sums.group_id = bucket_scores.group_id AND bucket_sums.bucket = bucket_scores.bucket
