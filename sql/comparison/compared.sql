-- One row per cell, metric and pair of systems, in that order, with all that tests need to know.
SELECT
  n.cell,
  n.metric,
  n.pair,
  COALESCE(a.units, 0) AS units,
  n.units - COALESCE(a.units, 0) AS unpaired,
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
  SELECT cell, pair, metric, COUNT(*) AS units
  FROM paired
  WHERE baseline_value IS NOT NULL OR system_value IS NOT NULL
  GROUP BY cell, pair, metric
) AS n
LEFT JOIN averages AS a ON n.cell = a.cell AND n.pair = a.pair AND n.metric = a.metric
LEFT JOIN spread AS s ON n.cell = s.cell AND n.pair = s.pair AND n.metric = s.metric
ORDER BY n.cell, n.metric, n.pair
