-- widened_limits: one row per group, metric, component and compared group: limits of its value that hold with those of all others.
-- Grain: group_id, metric, component_id, compared_id
SELECT
  widening_factors.*,
  value - value_factor * (value - ci_low) AS value_low,
  value + value_factor * (ci_high - value) AS value_high,
  value - pair_factor * (value - ci_low) AS pair_low,
  value + pair_factor * (ci_high - value) AS pair_high
FROM widening_factors
