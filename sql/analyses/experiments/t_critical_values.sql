-- t_critical_values: one row per metric, treatment and purpose: quantile of Student's t and p-value.
-- Note: z stands for t by t^2 = df * (EXP(z^2 / df) - 1), which is written so that no digits are lost where z^2 / df is small.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose,
  z * EXP(z * z / df / 2) * SQRT(expm1_ratio(-z * z / df)) AS t_quantile,
  CASE WHEN log_p > 0 THEN 1 ELSE exp_or_zero(log_p) END AS p_value
FROM t_quantiles
