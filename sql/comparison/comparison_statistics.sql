-- comparison_statistics: one row per group, metric and pair of systems, with the statistics that significance tests need.
-- Grain: cell, pair, metric
SELECT
  n.cell,
  n.metric,
  n.pair,
  n.units AS cell_units,
  n.baseline_units,
  n.system_units,
  COALESCE(a.units, 0) AS units,
  n.units - n.null_units - COALESCE(a.units, 0) AS unpaired,
  a.value_baseline,
  a.value_system,
  a.difference,
  a.scale,
  s.se,
  s.squares,
  s.total,
  s.above,
  s.equal,
  s.below
FROM (
  SELECT
    cell,
    pair,
    metric,
    COUNT(*) AS units,
    COUNT(baseline_value) AS baseline_units,
    COUNT(system_value) AS system_units,
    SUM(CASE WHEN baseline_value IS NULL AND system_value IS NULL THEN 1 ELSE 0 END) AS null_units
  FROM paired_values
  GROUP BY cell, pair, metric
) AS n
LEFT JOIN mean_differences AS a ON n.cell = a.cell AND n.pair = a.pair AND n.metric = a.metric
LEFT JOIN difference_errors AS s ON n.cell = s.cell AND n.pair = s.pair AND n.metric = s.metric
ORDER BY n.cell, n.metric, n.pair
