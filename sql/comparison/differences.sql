-- differences: one row per unit for which both systems have a value: by how much the second is better, beyond what is asked of it.
-- A sign of -1 stands for metrics of which lower values are better, a factor other than 1 for what is tolerated as a share.
SELECT
  cell,
  pair,
  metric,
  unit,
  weight,
  baseline_value,
  system_value,
  sign * (system_value - factor * baseline_value) AS difference,
  is_share
FROM paired
WHERE baseline_value IS NOT NULL AND system_value IS NOT NULL AND weight > 0
