-- effects: one row per metric and treatment: difference from the control, relative one by the delta method, standard errors and df.
-- The relative difference is of the absolute value of the control, so that its sign is that of the difference.
-- The relative standard error is by the delta method, with the degrees of freedom of the difference.
-- Grain: metric, variant
SELECT
  variance_shares.*,
  value - value_control AS difference,
  SQRT(variance + variance_control) AS se,
  welch_df(variance_share, effective_units, effective_units_control) AS df, -- by Welch
  (value - value_control) / NULLIF(ABS(value_control), 0) AS relative_difference,
  SQRT(lift_variance / NULLIF(relative_variance_share, 0)) / NULLIF(ABS(value_control), 0) AS relative_se, -- from a variance over its share
  welch_df(variance_share, effective_units, effective_units_control) AS relative_df,
  $alpha AS alpha -- 1 - confidence, over the number of intervals if corrected
FROM variance_shares
