-- variant_estimates: one row per metric, treatment and arm (treatment or control): its CUPED-adjusted value, and variance of that.
-- Grain: metric, variant, arm
SELECT
  metric, variant, arm, units, effective_units, jackknife_growth, cuped_theta, value,
  CASE
    WHEN exceeds_rounding(squares, square_terms, units, value) THEN squares / NULLIF(units - 1, 0) / units
  END AS variance -- NULL if squares are only rounding errors, as of equal units
FROM adjusted_moments
