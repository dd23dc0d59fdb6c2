-- limit_margins: one row per group, metric, component and compared group: margins of its value below and above, and of its logarithm.
-- Those of the logarithm are NULL if a value or limit has none.
-- Grain: group_id, metric, component_id, value_rank
SELECT
  simultaneous_limits.*,
  value - pair_low AS margin_below,
  pair_high - value AS margin_above,
  CASE WHEN value > 0 AND pair_low > 0 THEN LN(value / NULLIF(pair_low, 0)) END AS log_below,
  CASE WHEN value > 0 AND pair_high > 0 THEN LN(pair_high / NULLIF(value, 0)) END AS log_above
FROM simultaneous_limits
