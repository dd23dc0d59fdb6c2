-- raised_moments: one row per metric and variant: moments, of which sums of squares are raised if few units convert.
-- Note: Squares are units * ratio * (1 - ratio) only if each value is 0 or 1.
-- The variance of a lift grows by that of a jackknife, in which a unit has a leverage of 1 / effective_units.
-- Source: MacKinnon & White 1985 (HC3).
-- Grain: metric, variant
SELECT
  metric, variant, units, effective_units,
  POWER((units - 1) * effective_units / NULLIF(units * (effective_units - 1), 0), 2) AS jackknife_growth, -- factor of the variance of a lift
  ratio, covariate_ratio,
  raised_squares(squares, square_terms, units, ratio, overall_ratio, rarer_units) AS squares, -- raised towards the overall ratio if few convert
  square_terms, covariate_products, covariate_squares, covariate_square_terms
FROM linearized_moments
