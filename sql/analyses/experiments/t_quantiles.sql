-- t_quantiles: one row per metric, treatment and purpose: z after a Newton step towards the tail alpha, and log p-value of z before it.
-- For p-values z does not change.
-- Grain: metric, variant, purpose
SELECT
  metric, variant, purpose, df, alpha, normalizer,
  LN(tail / normalizer) - z * z / 2 AS log_p,
  CASE
    WHEN purpose = 'p' THEN z
    ELSE z + (LN(tail / normalizer / alpha) - z * z / 2)
    * tail * SQRT(expm1_ratio(-z * z / df))
  END AS z -- plus the gap of the logs of tail and alpha over its slope
FROM t_integrals
