-- paired_unit_values: one row per group, pair of systems and unit: values of both systems, a column per metric and system.
-- Grain: cell, pair, unit
SELECT
  unit_values.cell, -- number of the group
  pair_systems.pair,
  unit_values.unit,
  MAX(unit_values.weight) AS weight
FROM unit_values
INNER JOIN pair_systems ON unit_values.system = pair_systems.system
GROUP BY unit_values.cell, pair_systems.pair, unit_values.unit
