-- t_critical_values: one row per metric, treatment and purpose: quantile of Student's t and log p-value.
-- Note: z stands for t by t^2 = df * (EXP(z^2 / df) - 1), which is written so that no digits are lost where z^2 / df is small.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose, log_p,
  z * EXP(z * z / df / 2) * SQRT(expm1_ratio(-z * z / df)) AS t_quantile
FROM t_quantiles
