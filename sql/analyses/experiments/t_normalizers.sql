-- t_normalizers: one row per metric, treatment and purpose: integral of the density of z from 0 up.
-- Note: z is t on a nearly normal scale: t^2 = df * (EXP(z^2 / df) - 1). Its density is EXP(-z^2 / 2) / SQRT((1 - EXP(-x)) / x), x = z^2 / df, times a constant. (e^x - 1) / ln(e^x) keeps digits.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose, df, alpha, t_squared_by_df,
  SQRT(-2 * LN(alpha / 2)) AS z_bound, -- above the normal quantile, for its approximation
  SUM(
    weight / 4 * EXP(-node * node / 32)
    / SQRT(expm1_ratio(-node * node / 16 / df))
  ) AS normalizer -- sum over nodes, at z = node / 4
FROM t_requests
CROSS JOIN quadrature_nodes
GROUP BY metric, variant, purpose, df, alpha, t_squared_by_df
