-- differences: one row per unit for which both systems have a value: by how much the second is better, beyond what is asked of it.
-- A sign of -1 stands for metrics of which lower values are better, a factor other than 1 for what is tolerated as a share.
SELECT
  p.cell,
  p.pair,
  p.metric,
  p.unit,
  p.weight,
  p.baseline_value,
  p.system_value,
  a.sign * (p.system_value - a.factor * p.baseline_value) AS difference,
  a.is_share
FROM paired AS p
INNER JOIN asked AS a ON p.metric = a.metric
WHERE p.baseline_value IS NOT NULL AND p.system_value IS NOT NULL AND p.weight > 0
