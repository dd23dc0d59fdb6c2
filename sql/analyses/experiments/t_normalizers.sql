-- t_normalizers: one row per metric, treatment and purpose: integral of the density from 0 up, and first bound of z.
-- With t * t = df * (EXP(z * z / df) - 1), the density of t is EXP(-z * z / 2) * SQRT(u / (1 - EXP(-u))) for u = z * z / df; the
-- logarithm of a rounded exponential keeps its digits where u is small.
-- Grain: metric, variant, purpose
SELECT
  metric,
  variant,
  purpose,
  df,
  alpha,
  t_squared_by_df,
  SQRT(-2 * LN(alpha / 2)) AS z_bound,
  SUM(
    weight / 4 * EXP(-node * node / 32)
    / SQRT(COALESCE((EXP(-node * node / 16 / df) - 1) / NULLIF(LN(EXP(-node * node / 16 / df)), 0), 1))
  ) AS normalizer
FROM t_requests
CROSS JOIN quadrature_nodes
GROUP BY metric, variant, purpose, df, alpha, t_squared_by_df
