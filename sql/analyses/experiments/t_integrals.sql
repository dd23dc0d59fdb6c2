-- t_integrals: one row per metric, treatment and purpose: z, and integral of the density beyond it, times EXP(z * z / 2).
-- Note: EXP(-step * (z + step / 2)) is the normal density at z + step over that at z, step = node / (4 + z).
-- The density falls the faster, the farther out z is.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose, df, alpha, normalizer, z,
  SUM(
    weight / (4 + z) * EXP(-node / (4 + z) * (z + node / (4 + z) / 2))
    / SQRT(expm1_ratio(-(z + node / (4 + z)) * (z + node / (4 + z)) / df))
  ) AS tail
FROM t_quantiles
CROSS JOIN quadrature_nodes
GROUP BY metric, variant, purpose, df, alpha, normalizer, z
