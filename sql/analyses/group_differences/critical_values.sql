-- critical_values: one row per group, metric, component and compared group: normal quantiles of intervals that hold together.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  group_id,
  metric,
  component_id,
  compared_id,
  value_rank,
  value,
  ci_low,
  ci_high,
  n_units,
  bound_low,
  bound_high,
  num_values,
  num_pairs,
  inverse_df,
  normal_quantile(value_bound) AS value_quantile,
  normal_quantile(pair_bound) AS pair_quantile
FROM tail_bounds
