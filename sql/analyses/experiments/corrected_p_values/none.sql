-- corrected_p_values: one row per metric and treatment: effect, p-value, and the same as corrected p-value.
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
  p_value AS p_adjusted
FROM p_values
