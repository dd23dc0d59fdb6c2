-- jackknife_errors: one row per group and metric: number of buckets, and jackknife standard error from values without one bucket.
-- It is the root of (g - 1) / g times the sum of squared deviations from the mean, of g buckets.
-- Source: Shao & Tu 1995, The Jackknife and Bootstrap, section 2.3: the grouped jackknife.
-- Grain: group_number, metric_number
SELECT
  group_number, metric_number,
  COUNT(*) AS num_buckets, -- buckets with rows
  CASE
    WHEN COUNT(*) > 1 AND COUNT(value) = COUNT(*)
      THEN SQRT(CAST(COUNT(*) - 1 AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) * SUM(deviation * deviation))
  END AS se -- NULL for one bucket, or if a value is undefined
FROM (
  -- one row per group, metric and bucket
  SELECT
    group_number, metric_number, value,
    value - AVG(value) OVER (PARTITION BY group_number, metric_number) AS deviation
  FROM left_out
) AS value_deviations
GROUP BY group_number, metric_number
ORDER BY group_number, metric_number
