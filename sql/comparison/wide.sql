-- wide: one row per unit, with what its draws are made of and, for each comparison, its difference.
SELECT
  s.unit,
  MAX(d.seed) AS seed,
  MAX(d.step) AS step
FROM signed AS s
INNER JOIN draws AS d ON s.unit = d.unit
GROUP BY s.unit
