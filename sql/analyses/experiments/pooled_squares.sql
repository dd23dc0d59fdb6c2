-- pooled_squares: one row per metric and treatment: ratio and sum of squares of the covariate, and of its products with the value.
-- Note: A sum about the mean of both samples is the sums about their own means, and half_harmonic_units times the differences of the means.
-- A column of two names, such as value_covariate, is the sum of their products about the means; base is the covariate's denominator.
-- Grain: metric, variant
SELECT
  metric, variant, units, denominator, covariate_denominator, covariate_ratio,
  covariate_covariate + covariate_ratio * covariate_ratio * base_base AS covariate_square_terms,
  linearized_products(value_covariate, value_base, denominator_covariate, denominator_base, ratio, covariate_ratio)
  + half_harmonic_units * (value_difference - ratio * denominator_difference)
  * (covariate_difference - covariate_ratio * covariate_denominator_difference) AS covariate_products,
  linearized_squares(covariate_covariate, covariate_base, base_base, covariate_ratio)
  + half_harmonic_units * (covariate_difference - covariate_ratio * covariate_denominator_difference)
  * (covariate_difference - covariate_ratio * covariate_denominator_difference) AS covariate_squares
FROM pooled_moments
