-- results: one row per metric and treatment, and one for the sample ratio: effect with interval and test.
-- The last row is the sample ratio test, with its statistic, df and p-value.
-- The winner and the minimum detectable effect (mde) follow from the effect.
-- There is no interval, p-value or winner if the units of the variant or of the control are all equal.
-- The winner needs a corrected p-value below 1 - confidence, and numbers of units that match the expected shares.
-- Grain: metric, variant
SELECT
  effects.metric,
  $control AS control,
  effects.variant, value_control, value, difference,
  difference - critical_value * se AS ci_low,
  difference + critical_value * se AS ci_high,
  1 - alpha AS ci_level,
  relative_difference,
  $relative_ci_low AS relative_ci_low,
  $relative_ci_high AS relative_ci_high,
  se, n_units_control, effects.n_units,
  difference / NULLIF(se, 0) AS statistic,
  effects.df, corrected_p_values.p_value, p_adjusted,
  CASE
    WHEN sample_ratio_test.p_value >= $mismatch AND p_adjusted < 1 - $confidence
    THEN CASE WHEN $gain > 0 THEN effects.variant WHEN $gain < 0 THEN $control END
  END AS winner,
  mde_critical_value * se AS mde,
  cuped_theta, multi_variant_units
FROM effects
INNER JOIN corrected_p_values ON corrected_p_values.metric = effects.metric AND corrected_p_values.variant = effects.variant
CROSS JOIN sample_ratio_statistic
CROSS JOIN sample_ratio_test
UNION ALL
SELECT
  $sample_ratio, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  n_units, statistic, df, p_value, NULL, NULL, NULL, NULL, multi_variant_units
FROM sample_ratio_statistic
CROSS JOIN sample_ratio_test
