-- bucket_differences: one row per group, metric and jackknife bucket: the difference of two rollups without the bucket.
-- A rollup without rows of the bucket has its overall value.
-- Grain: many per group_number, metric_number
SELECT
  buckets.group_number, buckets.metric_number,
  CASE WHEN left_out_current.bucket IS NULL THEN full_values.value_current ELSE left_out_current.value END
    - CASE WHEN left_out_reference.bucket IS NULL THEN full_values.value_reference ELSE left_out_reference.value END AS value -- current less reference
FROM (
  -- one row per group, metric and bucket
  SELECT DISTINCT group_number, metric_number, bucket
  FROM (
    -- one row per group, metric, bucket and rollup
    SELECT group_number, metric_number, bucket FROM left_out_reference
    UNION ALL
    SELECT group_number, metric_number, bucket FROM left_out_current
  ) AS bucket_keys
) AS buckets
INNER JOIN full_values
  ON full_values.group_number = buckets.group_number AND full_values.metric_number = buckets.metric_number
LEFT JOIN left_out_reference
  ON left_out_reference.group_number = buckets.group_number
  AND left_out_reference.metric_number = buckets.metric_number
  AND left_out_reference.bucket = buckets.bucket
LEFT JOIN left_out_current
  ON left_out_current.group_number = buckets.group_number
  AND left_out_current.metric_number = buckets.metric_number
  AND left_out_current.bucket = buckets.bucket
