-- p_values: one row per metric and treatment: effect with standard errors and critical values, and two-sided p-value.
-- The p-value is NULL without a standard error.
-- Grain: metric, variant
SELECT
  effects.metric, effects.variant, cuped_theta, value, value_control, n_units, n_units_control,
  difference, se, df, relative_difference, relative_se, alpha, critical_value,
  relative_critical_value, mde_critical_value,
  CASE WHEN log_p > 0 THEN 1 ELSE exp_or_zero(log_p) END AS p_value
FROM effects
INNER JOIN critical_values ON critical_values.metric = effects.metric AND critical_values.variant = effects.variant
