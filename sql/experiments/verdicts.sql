-- verdicts: one row per metric and variant beside the control: its effect, p, and which of both is better, unless variants have other numbers of
-- units than they should.
SELECT
  l.metric,
  l.control,
  l.variant,
  l.value_control,
  l.value,
  l.difference,
  l.low,
  l.high,
  l.level,
  l.relative,
  l.relative_low,
  l.relative_high,
  l.se,
  l.units_control,
  l.units,
  l.statistic,
  l.freedom,
  l.p,
  l.p_adjusted,
  CASE
    WHEN m.p >= $mismatch AND l.p_adjusted < 1 - $confidence AND $gain > 0 THEN l.variant
    WHEN m.p >= $mismatch AND l.p_adjusted < 1 - $confidence AND $gain < 0 THEN l.control
  END AS better,
  l.detectable,
  l.theta,
  m.crossed
FROM corrected AS l
CROSS JOIN mismatch AS m
