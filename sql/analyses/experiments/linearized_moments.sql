-- linearized_moments: one row per metric and variant: ratios, and sums of squares and products about them by the delta method.
-- Squares no greater than the rounding errors of square_terms, which are squares without what cancels, count as 0 later.
-- A column of two names, such as value_covariate, is the sum of their products about the means; base is the covariate's denominator.
-- Denominators that differ cost degrees of freedom, in the ratio of Kish's effective sample size to the number of units.
-- Note: Squares are units * ratio * (1 - ratio) only if each value is 0 or 1.
-- The jackknife is that of a leverage of 1 / effective_units for each unit.
-- Source: the delta method, Deng, Knoblich & Lu 2018, section 2; Kish 1965; MacKinnon & White 1985 (HC3).
-- Grain: metric, variant
SELECT
  metric, variant, units, effective_units,
  POWER((units - 1) * effective_units / NULLIF(units * (effective_units - 1), 0), 2) AS jackknife_growth, -- of the variance
  ratio, covariate_ratio,
  raised_squares(squares, square_terms, units, ratio, rate, fewer) AS squares, -- raised towards the overall share, if fewer than 10 of a kind
  square_terms, covariate_products, covariate_squares, covariate_square_terms
FROM (
  -- one row per metric and variant
  SELECT
    metric, variant, units,
    units - (units - 1) * denominator_denominator / (units * denominator * denominator + denominator_denominator) AS effective_units, -- fewer if denominators differ: few units decide
    ratio, covariate_ratio,
    CASE WHEN ratio < 0.5 THEN units * ratio ELSE units * (1 - ratio) END AS fewer, -- units of the rarer kind, if a value is 0 or 1
    SUM(units * ratio) OVER (PARTITION BY metric) / NULLIF(SUM(units) OVER (PARTITION BY metric), 0) AS rate, -- of all variants
    linearized_squares(value_value, value_denominator, denominator_denominator, ratio) / (denominator * denominator) AS squares,
    (value_value + ratio * ratio * denominator_denominator) / (denominator * denominator) AS square_terms,
    linearized_products(value_covariate, value_base, denominator_covariate, denominator_base, ratio, covariate_ratio)
    / (denominator * covariate_denominator) AS covariate_products,
    linearized_squares(covariate_covariate, covariate_base, base_base, covariate_ratio)
    / (covariate_denominator * covariate_denominator) AS covariate_squares,
    (covariate_covariate + covariate_ratio * covariate_ratio * base_base)
    / (covariate_denominator * covariate_denominator) AS covariate_square_terms
  FROM variant_ratios
) AS plain_moments
