-- corrected: the same with p as it is corrected for how many tests there are.
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
  $p_adjusted AS p_adjusted
FROM tests
