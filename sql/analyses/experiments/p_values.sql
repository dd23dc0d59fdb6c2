-- p_values: one row per metric and treatment: effect with standard errors and critical values, and two-sided p-value.
-- The p-value is NULL without a standard error.
-- A p-value below 1e-304 is 0: some engines have an error for what no double holds.
-- Grain: metric, variant
SELECT
  effects.metric,
  effects.variant,
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
  CASE
    WHEN log_p > 0 THEN 1
    WHEN log_p > -700 THEN EXP(log_p)
    WHEN log_p IS NOT NULL THEN 0
  END AS p_value
FROM effects
INNER JOIN critical_values ON critical_values.metric = effects.metric AND critical_values.variant = effects.variant
