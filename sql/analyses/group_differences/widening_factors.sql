-- widening_factors: one row per group, metric, component and compared group: by how much intervals widen so that all of a metric hold together.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  critical_values.*,
  widening_factor(num_values, n_units, value_quantile, $quantile, inverse_df) AS value_factor,
  widening_factor(num_pairs, n_units, pair_quantile, $quantile, inverse_df) AS pair_factor
FROM critical_values
