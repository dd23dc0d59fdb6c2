-- widening_factors: one row per group, metric, component and compared group: by how much intervals widen so that all of a metric hold together.
-- It is the quotient of two quantiles of Student's t, 1 for a single interval.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  critical_values.*,
  CASE
    WHEN num_values <= 1 THEN 1
    WHEN n_units > 1000000 THEN value_quantile / $quantile
    ELSE SQRT((EXP(value_quantile * value_quantile * inverse_df) - 1) / NULLIF(EXP($quantile * $quantile * inverse_df) - 1, 0))
  END AS value_factor,
  CASE
    WHEN num_pairs <= 1 THEN 1
    WHEN n_units > 1000000 THEN pair_quantile / $quantile
    ELSE SQRT((EXP(pair_quantile * pair_quantile * inverse_df) - 1) / NULLIF(EXP($quantile * $quantile * inverse_df) - 1, 0))
  END AS pair_factor
FROM critical_values
