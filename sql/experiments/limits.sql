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
  relative,
  $relative_low AS relative_low,
  $relative_high AS relative_high,
  se,
  units_control,
  units,
  difference / NULLIF(se, 0) AS statistic,
  freedom,
  theta
FROM (
  SELECT
    metric,
    control,
    variant,
    value_control,
    value,
    difference,
    relative,
    se,
    relative_se,
    units_control,
    units,
    freedom,
    theta,
    $reach AS reach,
    $relative_reach AS relative_reach
  FROM lifts
) AS reaching
