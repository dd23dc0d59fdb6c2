-- beside: one row per cell, pair of systems and unit: its weight and, for every metric, the values of both.
SELECT
  v.cell,
  m.pair,
  v.unit,
  MAX(v.weight) AS weight
FROM unit_values AS v
INNER JOIN members AS m ON v.system = m.system
GROUP BY v.cell, m.pair, v.unit
