-- t_integrals: one row per metric, treatment and purpose: z, and the integral of the density beyond it.
-- A node is divided by 4 + z, since the density falls the faster, the farther out it is.
-- Grain: metric, variant, purpose
SELECT
  metric,
  variant,
  purpose,
  df,
  alpha,
  normalizer,
  z,
  SUM(
    weight / (4 + z) * EXP(-node / (4 + z) * (z + node / (4 + z) / 2))
    / SQRT(expm1_ratio(-(z + node / (4 + z)) * (z + node / (4 + z)) / df))
  ) AS tail
FROM t_quantiles
CROSS JOIN quadrature_nodes
GROUP BY metric, variant, purpose, df, alpha, normalizer, z
