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
    t.metric,
    t.variant,
    t.control,
    t.theta,
    c.value AS value_control,
    t.value,
    c.error AS error_control,
    t.error,
    c.units AS units_control,
    t.units,
    t.error / NULLIF(t.error + c.error, 0) AS portion
  FROM adjusted AS t
  INNER JOIN adjusted AS c ON t.metric = c.metric AND t.variant = c.variant
  WHERE t.arm = t.variant AND c.arm = c.control
) AS beside
