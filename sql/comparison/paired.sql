-- paired: one row per cell, pair of systems, metric and unit: the values of both, and the unit's weight.
SELECT
  v.cell,
  m.pair,
  a.metric,
  v.unit,
  MAX(CASE WHEN m.is_baseline THEN v.value END) AS baseline_value,
  MAX(CASE WHEN NOT m.is_baseline THEN v.value END) AS system_value,
  MAX(v.weight) AS weight
FROM unit_values AS v
INNER JOIN members AS m ON v.system = m.system
INNER JOIN asked AS a ON v.place = a.place
GROUP BY v.cell, m.pair, a.metric, v.unit
