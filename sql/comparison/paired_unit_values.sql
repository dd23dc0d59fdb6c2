-- paired_unit_values: one row per group, pair of systems and unit, with its weight and the values of both systems for every metric.
-- Grain: cell, pair, unit
SELECT
  v.cell,
  m.pair,
  v.unit,
  MAX(v.weight) AS weight
FROM unit_values AS v
INNER JOIN pair_systems AS m ON v.system = m.system
GROUP BY v.cell, m.pair, v.unit
