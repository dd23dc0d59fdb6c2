-- metric_moments: one row per metric and variant, with its units, means, and sums of squares and products about the means.
-- The letters are v for values, d for denominators, c for covariates, and e for denominators of covariates.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  units,
  multi_variant_units
FROM variant_comoments
CROSS JOIN metrics
