-- limits: one row per metric and variant beside the control: the interval of the difference, and that of the lift. None where units do not differ.
SELECT
  metric,
  control,
  variant,
  value_control,
  value,
  difference,
  CASE WHEN se > 0 THEN difference - reach * se END AS low,
  CASE WHEN se > 0 THEN difference + reach * se END AS high,
  1 - alpha AS level,
  relative,
  $relative_low AS relative_low,
  $relative_high AS relative_high,
  se,
  units_control,
  units,
  difference / NULLIF(se, 0) AS statistic,
  freedom,
  CASE WHEN se > 0 THEN found_reach * se END AS detectable,
  theta,
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
    l.relative,
    l.se,
    l.relative_se,
    l.units_control,
    l.units,
    l.freedom,
    l.theta,
    r.reach,
    r.relative_reach,
    r.found_reach,
    r.log_p
  FROM lifts AS l
  INNER JOIN reaches AS r ON l.metric = r.metric AND l.variant = r.variant
) AS reaching
