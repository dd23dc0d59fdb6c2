-- simultaneous_limits: one row per group, metric, component and compared group: limits within the bounds of the metric.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  group_id,
  metric,
  component_id,
  compared_id,
  value_rank,
  value,
  CASE WHEN value_low < bound_low THEN bound_low ELSE value_low END AS value_low,
  CASE WHEN value_high > bound_high THEN bound_high ELSE value_high END AS value_high,
  CASE WHEN pair_low < bound_low THEN bound_low ELSE pair_low END AS pair_low,
  CASE WHEN pair_high > bound_high THEN bound_high ELSE pair_high END AS pair_high
FROM widened_limits
