-- lifts: one row per metric and variant beside the control: the difference as a share of the control, and its standard error by the delta
-- method, with the degrees of freedom of the difference.
SELECT
  metric,
  variant,
  control,
  theta,
  value_control,
  value,
  units_control,
  units,
  difference,
  se,
  freedom,
  $alpha AS alpha,
  value / NULLIF(value_control, 0) - 1 AS relative,
  SQRT(error + value / NULLIF(value_control, 0) * (value / NULLIF(value_control, 0)) * error_control) / NULLIF(ABS(value_control), 0) AS relative_se,
  freedom AS relative_freedom
FROM effects
