-- covariate_coefficients: one row per metric and treatment: ratio and coefficient (theta of CUPED) of the covariate, 0 if constant.
-- A covariate is constant if its squares are no greater than the rounding errors of their terms.
-- Source: Deng, Xu, Kohavi & Walker 2013 (CUPED); ratios are linearized about the ratio of all units.
-- Grain: metric, variant
SELECT
  metric, variant,
  covariate_ratio AS pooled_covariate_ratio,
  CASE
    WHEN exceeds_rounding(covariate_squares, covariate_square_terms, units, covariate_ratio * covariate_denominator)
    THEN COALESCE(covariate_denominator / NULLIF(denominator, 0) * covariate_products / NULLIF(covariate_squares, 0), 0)
    ELSE 0
  END AS cuped_theta -- 0 if squares are only rounding errors, 1e-12 of their terms
FROM pooled_squares
