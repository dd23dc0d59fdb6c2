-- bucket_sums: one row per group and bucket of neighboring scores: class weights above and below it, rows below it, and totals.
-- The constant key is a partition for all buckets: they are few, and Spark warns of windows without a partition.
-- Grain: group_id, bucket
SELECT
  group_id,
  bucket, -- number of the bucket, ascending with the score
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id, constant_key ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_above, -- in higher buckets
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id, constant_key ORDER BY bucket DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_above, -- in higher buckets
  COALESCE(SUM(positives) OVER (
    PARTITION BY group_id, constant_key ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS positives_below, -- in lower buckets
  COALESCE(SUM(negatives) OVER (
    PARTITION BY group_id, constant_key ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS negatives_below, -- in lower buckets
  COALESCE(SUM(counted_bucket_rows) OVER (
    PARTITION BY group_id, constant_key ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS rows_below, -- of positive weight, in lower buckets
  SUM(counted_bucket_rows) OVER (PARTITION BY group_id, constant_key) AS counted_rows, -- of positive weight
  SUM(positives) OVER (PARTITION BY group_id, constant_key) AS total_positives,
  SUM(negatives) OVER (PARTITION BY group_id, constant_key) AS total_negatives,
  SUM(bucket_rows) OVER (PARTITION BY group_id, constant_key) AS total_rows
FROM (
  -- one row per group and bucket
  SELECT
    group_id, bucket,
    MIN(CASE WHEN score IS NULL THEN 1 ELSE 0 END) AS constant_key, -- 0 in every row, so that all buckets are one partition
    SUM(positives) AS positives,
    SUM(negatives) AS negatives,
    SUM(num_rows) AS bucket_rows,
    SUM(positive_rows + negative_rows) AS counted_bucket_rows
  FROM bucketed_scores
  GROUP BY group_id, bucket
) AS bucket_weights
