-- tests: the same with the two-sided p of each difference, and its place among all; where units do not differ p is 1 if there is no
-- difference, else not known.
SELECT
  metric,
  control,
  variant,
  value_control,
  value,
  difference,
  low,
  high,
  level,
  relative,
  relative_low,
  relative_high,
  se,
  units_control,
  units,
  statistic,
  freedom,
  detectable,
  theta,
  p,
  CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN p IS NULL THEN 1 ELSE 0 END, p, metric, variant) AS BIGINT) AS place,
  COUNT(p) OVER () AS many
FROM (
  SELECT
    metric,
    control,
    variant,
    value_control,
    value,
    difference,
    low,
    high,
    level,
    relative,
    relative_low,
    relative_high,
    se,
    units_control,
    units,
    statistic,
    freedom,
    detectable,
    theta,
    CASE
      WHEN log_p > 0 THEN 1
      WHEN log_p > -700 THEN EXP(log_p)
      WHEN log_p IS NOT NULL THEN 0
      WHEN se IS NOT NULL AND (ABS(difference) <= 1e-12 * ABS(value) OR ABS(difference) <= 1e-12 * ABS(value_control)) THEN 1
    END AS p
  FROM limits
) AS judged
