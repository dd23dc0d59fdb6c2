-- corrected_p_values: one row per metric and treatment, with its p-value and the p-value corrected for multiple tests.
-- Grain: metric, variant
SELECT
  metric,
  control,
  variant,
  value_control,
  value,
  difference,
  ci_low,
  ci_high,
  ci_level,
  relative_difference,
  relative_ci_low,
  relative_ci_high,
  se,
  n_units_control,
  n_units,
  statistic,
  df,
  mde,
  cuped_theta,
  p_value,
  $p_adjusted AS p_adjusted
FROM p_values
