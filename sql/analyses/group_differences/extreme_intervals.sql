-- extreme_intervals: one row per group, metric and component: limits of the least and the greatest value.
-- They are NULL if a compared group has a value but no interval.
-- Grain: group_id, metric, component_id
SELECT
  group_id, metric, component_id,
  CASE WHEN COUNT(value_low) = COUNT(*) THEN MIN(value_low) END AS value_min_ci_low,
  CASE WHEN COUNT(value_high) = COUNT(*) THEN MIN(value_high) END AS value_min_ci_high,
  CASE WHEN COUNT(value_low) = COUNT(*) THEN MAX(value_low) END AS value_max_ci_low,
  CASE WHEN COUNT(value_high) = COUNT(*) THEN MAX(value_high) END AS value_max_ci_high
FROM simultaneous_limits
GROUP BY group_id, metric, component_id
