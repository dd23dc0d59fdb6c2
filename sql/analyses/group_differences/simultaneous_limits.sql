-- simultaneous_limits: one row per group, metric, component and compared group: limits within the bounds of the metric.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  group_id, metric, component_id, compared_id, value_rank, value,
  greater(bound_low, value_low) AS value_low,
  smaller(bound_high, value_high) AS value_high,
  greater(bound_low, pair_low) AS pair_low,
  smaller(bound_high, pair_high) AS pair_high
FROM widened_limits
