-- variant_estimates: one row per metric and variant: its value, which is not adjusted, and the variance of that.
-- Grain: metric, variant
SELECT
  metric, variant, units, effective_units, jackknife_growth,
  ratio AS value,
  CASE
    WHEN exceeds_rounding(squares, square_terms, units, ratio) THEN squares / NULLIF(units - 1, 0) / units
  END AS variance -- NULL if squares are only rounding errors, as of equal units
FROM raised_moments
