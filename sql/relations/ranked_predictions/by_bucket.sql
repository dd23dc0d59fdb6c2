-- ranked_predictions: one row per group and distinct score, with the number of predictions of lower scores.
-- Buckets below are counted by score_buckets, and lower scores of the same bucket by a window over the bucket.
-- Grain: group_id, score
SELECT
  t.group_id,
  t.score,
  t.weight,
  t.label_sum,
  b.rows_below + t.bucket_rows_below AS rows_below,
  b.total_rows
FROM (
  SELECT
    group_id,
    bucket,
    score,
    positives + negatives AS weight,
    label_sum,
    COALESCE(SUM(num_rows) OVER (
      PARTITION BY group_id, bucket ORDER BY score ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS bucket_rows_below
  FROM bucket_score_weights
) AS t
JOIN score_buckets AS b ON b.group_id = t.group_id AND b.bucket = t.bucket
