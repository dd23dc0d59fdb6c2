-- variant_ratios: one row per metric and variant: ratio of means, and moments.
-- The denominator of a mean is 1.
-- The letters of products are v for values, d for denominators, c for covariates, and e for denominators of covariates.
-- Grain: metric, variant
SELECT
  metric, variant, units,
  NULLIF(denominator, 0) AS denominator,
  NULLIF(covariate_denominator, 0) AS covariate_denominator,
  value / NULLIF(denominator, 0) AS ratio,
  covariate / NULLIF(covariate_denominator, 0) AS covariate_ratio,
  svv, svd, sdd, scc, sce, see, svc, sve, sdc, sde
FROM metric_moments
