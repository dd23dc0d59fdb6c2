-- linearized_moments: one row per metric and variant: ratio, and sums of squares and products by the delta method.
-- Note: To first order, a ratio varies as the mean of value - ratio * denominator does.
-- A column of two names, such as value_covariate, is the sum of their products about the means; base is the covariate's denominator.
-- Denominators that differ cost degrees of freedom, in the ratio of Kish's effective sample size to the number of units.
-- Source: the delta method, Deng, Knoblich & Lu 2018, section 2; Kish 1965.
-- Grain: metric, variant
SELECT
  metric, variant, units,
  units - (units - 1) * denominator_denominator / (units * denominator * denominator + denominator_denominator) AS effective_units, -- fewer than units if denominators differ
  ratio, covariate_ratio,
  SUM(units * ratio) OVER (PARTITION BY metric) / NULLIF(SUM(units) OVER (PARTITION BY metric), 0) AS overall_ratio, -- of all variants
  CASE WHEN ratio < 0.5 THEN units * ratio ELSE units * (1 - ratio) END AS rarer_units, -- of values 0 and 1: units of the rarer one
  linearized_squares(value_value, value_denominator, denominator_denominator, ratio) / (denominator * denominator) AS squares, -- sum of squares about the ratio
  (value_value + ratio * ratio * denominator_denominator) / (denominator * denominator) AS square_terms, -- the same without what cancels, for rounding
  linearized_products(value_covariate, value_base, denominator_covariate, denominator_base, ratio, covariate_ratio)
  / (denominator * covariate_denominator) AS covariate_products, -- sum of products of value and covariate about their ratios
  linearized_squares(covariate_covariate, covariate_base, base_base, covariate_ratio)
  / (covariate_denominator * covariate_denominator) AS covariate_squares, -- sum of squares of the covariate about its ratio
  (covariate_covariate + covariate_ratio * covariate_ratio * base_base)
  / (covariate_denominator * covariate_denominator) AS covariate_square_terms
FROM variant_ratios
