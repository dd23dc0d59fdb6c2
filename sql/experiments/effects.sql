-- effects: one row per metric and variant beside the control: the difference, its standard error, and the degrees of freedom of that.
-- Source: Welch 1947.
SELECT
  metric,
  variant,
  control,
  theta,
  value_control,
  value,
  error_control,
  error,
  units_control,
  units,
  value - value_control AS difference,
  SQRT(error + error_control) AS se,
  1 / NULLIF(portion * portion / NULLIF(units - 1, 0) + (1 - portion) * (1 - portion) / NULLIF(units_control - 1, 0), 0) AS freedom
FROM (
  SELECT
    metric,
    variant,
    control,
    theta,
    value_control,
    value,
    error_control,
    error,
    units_control,
    units,
    error / NULLIF(error + error_control, 0) AS portion
  FROM (
    SELECT
      metric,
      variant,
      MAX(control) AS control,
      MAX(theta) AS theta,
      MAX(CASE WHEN arm = control THEN value END) AS value_control,
      MAX(CASE WHEN arm = variant THEN value END) AS value,
      MAX(CASE WHEN arm = control THEN error END) AS error_control,
      MAX(CASE WHEN arm = variant THEN error END) AS error,
      MAX(CASE WHEN arm = control THEN units END) AS units_control,
      MAX(CASE WHEN arm = variant THEN units END) AS units
    FROM adjusted
    GROUP BY metric, variant
  ) AS two
) AS beside
