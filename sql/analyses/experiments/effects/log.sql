-- effects: one row per metric and treatment: difference from the control, relative one by the log of the ratio, standard errors and df.
-- The relative standard error and its degrees of freedom are those of the logarithm of the ratio.
-- Grain: metric, variant
SELECT
  variance_shares.*,
  value - value_control AS difference,
  SQRT(variance + variance_control) AS se,
  welch_df(variance_share, effective_units, effective_units_control) AS df, -- by Welch
  CASE WHEN value > 0 AND value_control > 0 THEN value / NULLIF(value_control, 0) - 1 END AS relative_difference,
  SQRT(lift_variance / NULLIF(relative_variance_share, 0)) / NULLIF(value, 0) AS relative_se, -- of the log of the ratio: variance over its share
  welch_df(relative_variance_share, effective_units, effective_units_control) AS relative_df,
  $alpha AS alpha -- 1 - confidence, over the number of intervals if corrected
FROM variance_shares
