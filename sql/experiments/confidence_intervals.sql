-- confidence_intervals: one row per metric and treatment, with the intervals of its difference and relative difference, NULL if no unit differs.
-- Grain: metric, variant
SELECT
  metric,
  control,
  variant,
  value_control,
  value,
  difference,
  CASE WHEN se > 0 THEN difference - reach * se END AS ci_low,
  CASE WHEN se > 0 THEN difference + reach * se END AS ci_high,
  1 - alpha AS ci_level,
  relative_difference,
  $relative_ci_low AS relative_ci_low,
  $relative_ci_high AS relative_ci_high,
  se,
  n_units_control,
  n_units,
  difference / NULLIF(se, 0) AS statistic,
  freedom AS df,
  CASE WHEN se > 0 THEN found_reach * se END AS mde,
  cuped_theta,
  log_p
FROM (
  SELECT
    l.metric,
    l.control,
    l.variant,
    l.value_control,
    l.value,
    l.difference,
    l.alpha,
    l.relative_difference,
    l.se,
    l.relative_se,
    l.n_units_control,
    l.n_units,
    l.freedom,
    l.cuped_theta,
    r.reach,
    r.relative_reach,
    r.found_reach,
    r.log_p
  FROM relative_effects AS l
  INNER JOIN critical_values AS r ON l.metric = r.metric AND l.variant = r.variant
) AS reaching
