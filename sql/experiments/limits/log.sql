-- limits: one row per metric and variant beside the control: the interval of the difference, that of the lift by its logarithm. None where units do not differ.
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
  CASE WHEN relative_reach < 200 / NULLIF(relative_se, 0) THEN (1 + relative) * EXP(-relative_reach * relative_se) - 1 END AS relative_low,
  CASE WHEN relative_reach < 200 / NULLIF(relative_se, 0) THEN (1 + relative) * EXP(relative_reach * relative_se) - 1 END AS relative_high,
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
