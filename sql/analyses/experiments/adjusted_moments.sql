-- adjusted_moments: one row per metric, treatment and arm (treatment or control): units, theta, CUPED-adjusted value and sum of squares.
-- Units whose values are all equal have no squares: after adjustment they would have those of the covariate.
-- Grain: metric, variant, arm
SELECT
  covariate_coefficients.metric, covariate_coefficients.variant,
  raised_moments.variant AS arm,
  units, effective_units, jackknife_growth, cuped_theta,
  CASE WHEN cuped_theta = 0 THEN ratio ELSE ratio - cuped_theta * (covariate_ratio - pooled_covariate_ratio) END AS value, -- less theta times the excess of the covariate
  CASE
    WHEN cuped_theta = 0 THEN squares
    WHEN exceeds_rounding(squares, square_terms, units, ratio)
    THEN squares - 2 * cuped_theta * covariate_products + cuped_theta * cuped_theta * covariate_squares
  END AS squares, -- of value - theta * covariate; NULL for equal values
  CASE
    WHEN cuped_theta = 0 THEN square_terms
    ELSE square_terms + cuped_theta * cuped_theta * covariate_square_terms
  END AS square_terms
FROM covariate_coefficients
INNER JOIN raised_moments ON covariate_coefficients.metric = raised_moments.metric
WHERE raised_moments.variant = covariate_coefficients.variant OR raised_moments.variant = $control
