-- bucket_differences: one row per group, metric and bucket, with the difference of two sides when the bucket is left out of both.
-- A side without rows of the bucket has its overall value.
-- Grain: many per group_number, metric_number
SELECT
  f.group_number,
  f.metric_number,
  (CASE WHEN n.bucket IS NULL THEN w.value_now ELSE n.value END)
  - (CASE WHEN t.bucket IS NULL THEN w.value_then ELSE t.value END) AS value
FROM (
  SELECT DISTINCT group_number, metric_number, bucket
  FROM (
    SELECT group_number, metric_number, bucket FROM left_out_then
    UNION ALL
    SELECT group_number, metric_number, bucket FROM left_out_now
  ) AS both_sides
) AS f
INNER JOIN whole AS w ON w.group_number = f.group_number AND w.metric_number = f.metric_number
LEFT JOIN left_out_then AS t ON t.group_number = f.group_number AND t.metric_number = f.metric_number AND t.bucket = f.bucket
LEFT JOIN left_out_now AS n ON n.group_number = f.group_number AND n.metric_number = f.metric_number AND n.bucket = f.bucket
