-- unit_differences: one row per group, pair of systems, metric and unit with two values, with the value of the system minus that of the baseline.
-- Grain: cell, pair, metric, unit
SELECT
  cell,
  pair,
  metric,
  unit,
  weight,
  baseline_value,
  system_value,
  system_value - baseline_value AS difference,
  is_share
FROM paired_values
WHERE baseline_value IS NOT NULL AND system_value IS NOT NULL AND weight > 0
