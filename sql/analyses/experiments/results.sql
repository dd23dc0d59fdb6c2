-- results: one row per metric and treatment, and one for the sample ratio: effect with interval and test.
-- The winner and the minimum detectable effect (mde) follow from them. The row of the sample ratio test has few of these columns.
-- There is no interval, p-value or winner if the units of the variant or of the control are all equal.
-- The winner needs a corrected p-value below 1 - confidence, and numbers of units that match the expected shares.
-- Grain: metric, variant
SELECT
  metric,
  $control AS control,
  variant, value_control, value, difference,
  difference - critical_value * se AS ci_low,
  difference + critical_value * se AS ci_high,
  1 - alpha AS ci_level,
  relative_difference,
  $relative_ci_low AS relative_ci_low,
  $relative_ci_high AS relative_ci_high,
  se, n_units_control, corrected_p_values.n_units,
  difference / NULLIF(se, 0) AS statistic,
  corrected_p_values.df, corrected_p_values.p_value, p_adjusted,
  CASE
    WHEN sample_ratio_test.p_value >= $mismatch AND p_adjusted < 1 - $confidence
    THEN CASE WHEN $gain > 0 THEN variant WHEN $gain < 0 THEN $control END
  END AS winner,
  mde_critical_value * se AS mde,
  cuped_theta, multi_variant_units
FROM corrected_p_values
CROSS JOIN sample_ratio_test
UNION ALL
SELECT
  $sample_ratio, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  n_units, statistic, df, p_value, NULL, NULL, NULL, NULL, multi_variant_units
FROM sample_ratio_test
