-- metric_moments: one row per metric and variant: units, means, and sums of squares and products about the means.
-- Python adds the columns value, denominator, covariate and covariate_denominator (means), svv to sde (sums of squares and products), and
-- missing (units without the covariate).
-- The letters are v for values, d for denominators, c for covariates, and e for denominators of covariates.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  units,
  multi_variant_units
FROM variant_comoments
CROSS JOIN metrics
