-- group_intervals: one row per group and metric: limits of the difference and the ratio of the least and the greatest true value.
-- The intervals of all pairs hold together: the true difference is at least the greatest lower limit of a pair, and at most the greatest
-- upper limit. Limits are NULL if a compared group has a value but no interval, and those of a ratio if a value is below 0.
-- Grain: group_id, metric
SELECT
  group_id, metric,
  CASE WHEN COUNT(difference_low) = COUNT(*) THEN greater(MAX(difference_low), 0) END AS ci_low,
  CASE WHEN COUNT(difference_high) = COUNT(*) THEN MAX(difference_high) END AS ci_high,
  CASE
    WHEN COUNT(difference_low) = COUNT(*) AND SUM(is_negative) = 0
    THEN MIN(smaller(reversed_ratio_low, ratio_low))
  END AS ratio_ci_low,
  CASE WHEN COUNT(difference_high) = COUNT(*) AND SUM(is_negative) = 0 THEN COALESCE(MIN(ratio_high), 1) END AS ratio_ci_high
FROM pair_limits
GROUP BY group_id, metric
