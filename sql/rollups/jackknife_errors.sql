-- jackknife_errors: one row per group and metric, with its standard error from the values without one of g buckets.
-- It is the root of (g - 1) / g times the sum of squared deviations from the mean, and NULL for a single bucket or if any value is
-- undefined.
-- Source: Shao & Tu 1995, The Jackknife and Bootstrap, section 2.3: the grouped jackknife.
-- Grain: group_number, metric_number
SELECT
  group_number,
  metric_number,
  COUNT(*) AS units,
  CASE
    WHEN COUNT(*) > 1 AND COUNT(value) = COUNT(*)
      THEN SQRT(CAST(COUNT(*) - 1 AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) * SUM(away * away))
  END AS se
FROM (
  SELECT
    group_number,
    metric_number,
    value,
    value - AVG(value) OVER (PARTITION BY group_number, metric_number) AS away
  FROM left_out
) AS centred
GROUP BY group_number, metric_number
ORDER BY group_number, metric_number
