-- effects: one row per metric and treatment, with its difference from the control, the standard error and the degrees of freedom.
-- Source: Welch 1947.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  control,
  cuped_theta,
  value_control,
  value,
  error_control,
  error,
  n_units_control,
  n_units,
  value - value_control AS difference,
  SQRT(error + error_control) AS se,
  1 / NULLIF(portion * portion / NULLIF(n_units - 1, 0) + (1 - portion) * (1 - portion) / NULLIF(n_units_control - 1, 0), 0) AS freedom
FROM (
  SELECT
    metric,
    variant,
    control,
    cuped_theta,
    value_control,
    value,
    error_control,
    error,
    n_units_control,
    n_units,
    error / NULLIF(error + error_control, 0) AS portion
  FROM (
    SELECT
      metric,
      variant,
      MAX(control) AS control,
      MAX(cuped_theta) AS cuped_theta,
      MAX(CASE WHEN arm = control THEN value END) AS value_control,
      MAX(CASE WHEN arm = variant THEN value END) AS value,
      MAX(CASE WHEN arm = control THEN error END) AS error_control,
      MAX(CASE WHEN arm = variant THEN error END) AS error,
      MAX(CASE WHEN arm = control THEN units END) AS n_units_control,
      MAX(CASE WHEN arm = variant THEN units END) AS n_units
    FROM adjusted_means
    GROUP BY metric, variant
  ) AS two
) AS beside
