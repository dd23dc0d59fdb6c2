-- results: one row per metric and treatment, with its effect, its p-value, and the better of treatment and control.
-- The winner needs a corrected p-value below 1 - confidence, and numbers of units that match the planned shares.
-- Grain: metric, variant
SELECT
  l.metric,
  l.control,
  l.variant,
  l.value_control,
  l.value,
  l.difference,
  l.ci_low,
  l.ci_high,
  l.ci_level,
  l.relative_difference,
  l.relative_ci_low,
  l.relative_ci_high,
  l.se,
  l.n_units_control,
  l.n_units,
  l.statistic,
  l.df,
  l.p_value,
  l.p_adjusted,
  CASE
    WHEN m.p_value >= $mismatch AND l.p_adjusted < 1 - $confidence AND $gain > 0 THEN l.variant
    WHEN m.p_value >= $mismatch AND l.p_adjusted < 1 - $confidence AND $gain < 0 THEN l.control
  END AS winner,
  l.mde,
  l.cuped_theta,
  m.multi_variant_units
FROM corrected_p_values AS l
CROSS JOIN sample_ratio_test AS m
