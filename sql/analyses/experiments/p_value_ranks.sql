-- p_value_ranks: one row per metric and treatment: effect, p-value, and its rank.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  cuped_theta,
  value,
  value_control,
  n_units,
  n_units_control,
  difference,
  se,
  df,
  relative_difference,
  relative_se,
  alpha,
  critical_value,
  relative_critical_value,
  mde_critical_value,
  p_value,
  CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN p_value IS NULL THEN 1 ELSE 0 END, p_value, metric, variant) AS BIGINT) AS p_rank,
  COUNT(p_value) OVER () AS num_tests
FROM p_values
