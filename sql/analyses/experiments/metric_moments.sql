-- metric_moments: one row per metric and variant: units, means, and sums of squares and products about the means.
-- A parameter is that of the amounts of each metric: $value is CASE metric WHEN 'revenue' THEN mean_revenue ... END. A mean without
-- a denominator has 1, and what a metric lacks is 0. The letters of products are v for values, d for denominators, c for covariates, and e
-- for denominators of covariates.
-- For each: metric
-- Grain: metric, variant
SELECT
  metric, variant, units, multi_variant_units,
  $value AS value,
  $denominator AS denominator,
  $covariate AS covariate,
  $covariate_denominator AS covariate_denominator,
  $svv AS svv, -- sum of squares of values about the mean
  $svd AS svd, -- of products of values, denominators
  $sdd AS sdd, -- sum of squares of denominators about the mean
  $scc AS scc, -- sum of squares of covariates about the mean
  $sce AS sce, -- of products of covariates, covariate denominators
  $see AS see, -- sum of squares of covariate denominators about the mean
  $svc AS svc, -- of products of values, covariates
  $sve AS sve, -- of products of values, covariate denominators
  $sdc AS sdc, -- of products of denominators, covariates
  $sde AS sde, -- of products of denominators, covariate denominators
  $missing AS missing -- units without the covariate
FROM variant_comoments
CROSS JOIN (
  -- one row per metric
  SELECT $metric AS metric
) AS metrics
