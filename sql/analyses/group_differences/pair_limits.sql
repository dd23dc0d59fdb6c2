-- pair_limits: one row per group, metric, component and pair of compared groups: limits of the difference, and of the ratio.
-- A lower limit without a logarithm is 0. An upper limit is NULL if it is not below 1, which the difference decides: otherwise one of the two
-- could be significant without the other.
-- Grain: group_id, metric, component_id, value_rank, higher_rank
SELECT
  pair_margins.*,
  difference - margin_below AS difference_low,
  greater(difference + margin_above, margin_below - difference) AS difference_high,
  CASE WHEN log_margin_below IS NULL THEN 0 ELSE ratio * EXP(-log_margin_below) END AS ratio_low,
  CASE
    WHEN difference <= margin_below THEN NULL
    WHEN ratio * EXP(log_margin_above) < 1 THEN ratio * EXP(log_margin_above)
    WHEN log_margin_above IS NULL AND greatest_ratio < 1 THEN greatest_ratio
    WHEN greatest_value > 0 THEN 1 - (difference - margin_below) / NULLIF(greatest_value, 0)
  END AS ratio_high,
  CASE WHEN ratio * EXP(log_margin_above) > 1 THEN 1 / NULLIF(ratio * EXP(log_margin_above), 0) END AS reversed_ratio_low
FROM pair_margins
