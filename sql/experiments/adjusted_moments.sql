-- adjusted_moments: one row per metric, treatment and arm (treatment or control): units, theta, CUPED-adjusted value and sum of squares.
-- Grain: metric, variant, arm
SELECT
  theta.metric,
  theta.variant,
  arm.variant AS arm,
  arm.units,
  theta.cuped_theta,
  CASE
    WHEN theta.cuped_theta = 0 THEN arm.ratio
    ELSE arm.ratio - theta.cuped_theta * (arm.covariate_ratio - theta.covariate_ratio)
  END AS value,
  CASE
    WHEN theta.cuped_theta = 0 THEN arm.squares
    ELSE arm.squares - 2 * theta.cuped_theta * arm.covariate_products + theta.cuped_theta * theta.cuped_theta * arm.covariate_squares
  END AS squares,
  CASE
    WHEN theta.cuped_theta = 0 THEN arm.square_terms
    ELSE arm.square_terms + theta.cuped_theta * theta.cuped_theta * arm.covariate_square_terms
  END AS square_terms
FROM covariate_coefficients AS theta
INNER JOIN linearized_moments AS arm ON theta.metric = arm.metric
WHERE arm.variant = theta.variant OR arm.variant = $control
