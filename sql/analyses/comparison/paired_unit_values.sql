-- paired_unit_values: one row per group, pair of systems and unit: its weight, and a column of values per metric and system.
-- Python adds the columns baseline_0 and system_0 for the first metric, and so for each metric.
-- Grain: cell, pair, unit
SELECT
  unit_values.cell, -- number of the group
  pair_systems.pair,
  unit_values.unit,
  MAX(unit_values.weight) AS weight,
  COUNT(*) AS num_systems -- 1 if the unit has a row of one system only
FROM unit_values
INNER JOIN pair_systems ON unit_values.system = pair_systems.system
GROUP BY unit_values.cell, pair_systems.pair, unit_values.unit
