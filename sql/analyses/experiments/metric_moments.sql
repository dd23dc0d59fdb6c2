-- metric_moments: one row per metric and variant: units, means, and sums of squares and products about the means.
-- A parameter is that of the amounts of each metric: $value is CASE metric WHEN 'revenue' THEN mean_revenue ... END. A mean without
-- a denominator has 1, and what a metric lacks is 0.
-- A column of two names, such as value_covariate, is the sum of their products about the means; base is the covariate's denominator.
-- For each: metric
-- Grain: metric, variant
SELECT
  metric, variant, units, multi_variant_units,
  $value AS value,
  $denominator AS denominator,
  $covariate AS covariate,
  $covariate_denominator AS covariate_denominator,
  $value_value AS value_value, -- sum of squares of values about the mean
  $value_denominator AS value_denominator, -- of products of values, denominators
  $denominator_denominator AS denominator_denominator, -- sum of squares of denominators about the mean
  $covariate_covariate AS covariate_covariate, -- sum of squares of covariates about the mean
  $covariate_base AS covariate_base, -- of products of covariates, covariate denominators
  $base_base AS base_base, -- sum of squares of covariate denominators about the mean
  $value_covariate AS value_covariate, -- of products of values, covariates
  $value_base AS value_base, -- of products of values, covariate denominators
  $denominator_covariate AS denominator_covariate, -- of products of denominators, covariates
  $denominator_base AS denominator_base, -- of products of denominators, covariate denominators
  $missing AS missing -- units without the covariate
FROM variant_comoments
CROSS JOIN (
  -- one row per metric
  SELECT $metric AS metric
) AS metrics
