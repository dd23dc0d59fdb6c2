-- variant_ratios: one row per metric and variant: ratio of means, and moments.
-- The denominator of a mean is 1.
-- A column of two names, such as value_covariate, is the sum of their products about the means; base is the covariate's denominator.
-- Grain: metric, variant
SELECT
  metric, variant, units,
  NULLIF(denominator, 0) AS denominator,
  NULLIF(covariate_denominator, 0) AS covariate_denominator,
  value / NULLIF(denominator, 0) AS ratio,
  covariate / NULLIF(covariate_denominator, 0) AS covariate_ratio,
  value_value, value_denominator, denominator_denominator, covariate_covariate, covariate_base, base_base,
  value_covariate, value_base, denominator_covariate, denominator_base
FROM metric_moments
