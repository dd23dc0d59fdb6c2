-- critical_values: one row per group, metric, component and compared group: normal quantiles of intervals that hold together.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  tail_bounds.*,
  normal_quantile(value_bound) AS value_quantile,
  normal_quantile(pair_bound) AS pair_quantile
FROM tail_bounds
