-- relative_effects: one row per metric and treatment, with the difference relative to the control, and its standard error by the delta method.
-- Its degrees of freedom are those of the difference.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  control,
  cuped_theta,
  value_control,
  value,
  n_units_control,
  n_units,
  difference,
  se,
  freedom,
  $alpha AS alpha,
  value / NULLIF(value_control, 0) - 1 AS relative_difference,
  SQRT(error + value / NULLIF(value_control, 0) * (value / NULLIF(value_control, 0)) * error_control) / NULLIF(ABS(value_control), 0) AS relative_se,
  freedom AS relative_freedom
FROM effects
