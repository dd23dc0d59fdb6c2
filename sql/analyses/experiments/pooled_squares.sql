-- pooled_squares: one row per metric and treatment: ratio and sum of squares of the covariate, and of its products with the value.
-- Note: A sum about the mean of both samples is the sums about their own means, and half_harmonic_units times the differences of the means.
-- The letters of products are v for values, d for denominators, c for covariates, and e for denominators of covariates.
-- Grain: metric, variant
SELECT
  metric, variant, units, denominator, covariate_denominator, covariate_ratio,
  scc + covariate_ratio * covariate_ratio * see AS covariate_square_terms,
  linearized_products(svc, sve, sdc, sde, ratio, covariate_ratio)
  + half_harmonic_units * (value_difference - ratio * denominator_difference)
  * (covariate_difference - covariate_ratio * covariate_denominator_difference) AS covariate_products,
  linearized_squares(scc, sce, see, covariate_ratio)
  + half_harmonic_units * (covariate_difference - covariate_ratio * covariate_denominator_difference)
  * (covariate_difference - covariate_ratio * covariate_denominator_difference) AS covariate_squares
FROM pooled_moments
