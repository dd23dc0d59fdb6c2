-- critical_values: one row per group, metric, component and compared group: normal quantiles of intervals that hold together.
-- Source: Abramowitz & Stegun 26.2.23, to 0.0005.
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
  value_bound - (2.515517 + value_bound * (0.802853 + value_bound * 0.010328))
  / (1 + value_bound * (1.432788 + value_bound * (0.189269 + value_bound * 0.001308))) AS value_quantile,
  pair_bound - (2.515517 + pair_bound * (0.802853 + pair_bound * 0.010328))
  / (1 + pair_bound * (1.432788 + pair_bound * (0.189269 + pair_bound * 0.001308))) AS pair_quantile
FROM tail_bounds
