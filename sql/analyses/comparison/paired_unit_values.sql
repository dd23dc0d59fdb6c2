-- paired_unit_values: one row per group, pair of systems and unit: its weight, and a column of values per metric and system.
-- For each: metric, flip (of a metric that counts them), size (of a class)
-- Grain: cell, pair, unit
SELECT
  unit_values.cell, -- number of the group
  pair_systems.pair, unit_values.unit,
  MAX(unit_values.weight) AS weight,
  COUNT(*) AS num_systems, -- 1 if the unit has a row of one system only
  MAX(size) AS size,
  MAX(CASE WHEN pair_systems.is_baseline THEN unit_values.value_metric END) AS baseline_metric,
  MAX(CASE WHEN NOT pair_systems.is_baseline THEN unit_values.value_metric END) AS system_metric,
  MAX(CASE WHEN pair_systems.is_baseline THEN unit_values.flip END) AS baseline_flip,
  MAX(CASE WHEN NOT pair_systems.is_baseline THEN unit_values.flip END) AS system_flip
FROM unit_values
INNER JOIN pair_systems ON unit_values.system = pair_systems.system
GROUP BY unit_values.cell, pair_systems.pair, unit_values.unit
