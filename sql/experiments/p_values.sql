-- p_values: one row per metric and treatment, with its two-sided p-value and the rank of that among all.
-- If no unit differs, the p-value is 1 for a difference of 0, else NULL.
-- Grain: metric, variant
SELECT
  metric,
  control,
  variant,
  value_control,
  value,
  difference,
  ci_low,
  ci_high,
  ci_level,
  relative_difference,
  relative_ci_low,
  relative_ci_high,
  se,
  n_units_control,
  n_units,
  statistic,
  df,
  mde,
  cuped_theta,
  p_value,
  CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN p_value IS NULL THEN 1 ELSE 0 END, p_value, metric, variant) AS BIGINT) AS place,
  COUNT(p_value) OVER () AS many
FROM (
  SELECT
    metric,
    control,
    variant,
    value_control,
    value,
    difference,
    ci_low,
    ci_high,
    ci_level,
    relative_difference,
    relative_ci_low,
    relative_ci_high,
    se,
    n_units_control,
    n_units,
    statistic,
    df,
    mde,
    cuped_theta,
    CASE
      WHEN log_p > 0 THEN 1
      WHEN log_p > -700 THEN EXP(log_p)
      WHEN log_p IS NOT NULL THEN 0
      WHEN se IS NOT NULL AND (ABS(difference) <= 1e-12 * ABS(value) OR ABS(difference) <= 1e-12 * ABS(value_control)) THEN 1
    END AS p_value
  FROM confidence_intervals
) AS judged
