-- effects: one row per metric and treatment: difference from the control, relative one by the delta method, standard errors and df.
-- The relative difference is of the absolute value of the control, so that its sign is that of the difference.
-- The relative standard error is by the delta method, with the degrees of freedom of the difference.
-- Source: Welch 1947.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  cuped_theta,
  value,
  value_control,
  n_units,
  n_units_control,
  value - value_control AS difference,
  SQRT(variance + variance_control) AS se,
  1 / NULLIF(
    variance_share * variance_share / NULLIF(n_units - 1, 0)
    + (1 - variance_share) * (1 - variance_share) / NULLIF(n_units_control - 1, 0),
    0
  ) AS df,
  (value - value_control) / NULLIF(ABS(value_control), 0) AS relative_difference,
  SQRT(variance + value / NULLIF(value_control, 0) * (value / NULLIF(value_control, 0)) * variance_control) / NULLIF(ABS(value_control), 0) AS relative_se,
  1 / NULLIF(
    variance_share * variance_share / NULLIF(n_units - 1, 0)
    + (1 - variance_share) * (1 - variance_share) / NULLIF(n_units_control - 1, 0),
    0
  ) AS relative_df,
  $alpha AS alpha
FROM variance_shares
