-- unit_difference_rows: one row per group and unit, with its random seed and its difference for every metric and pair of systems.
-- Grain: cell, unit
SELECT
  s.cell,
  s.unit,
  MAX(d.seed) AS seed,
  MAX(d.step) AS step
FROM unit_influence AS s
INNER JOIN sign_seeds AS d ON s.unit = d.unit
GROUP BY s.cell, s.unit
