-- regressions: one row per unit of the first grouping whose value of a metric is worse, the ten that lost most, for summaries of a gate.
-- $metric: integer from 0: the number of the metric.
-- $sign: integer from -1 to 1: 1 if higher values are better, -1 if lower ones are.
-- $cells: integer from 1: the number above those of the groups of the first grouping.
-- Grain: many per unit
SELECT
  CAST(unit AS TEXT) AS unit,
  baseline_value, system_value
FROM unit_differences
WHERE metric = $metric AND cell < $cells AND $sign * difference < 0
ORDER BY $sign * difference, cell, unit
LIMIT 10
