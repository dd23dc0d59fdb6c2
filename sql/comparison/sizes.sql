-- sizes: one row per cell, pair, metric and size of a difference other than 0: how many units have it, and their average rank by size.
SELECT
  cell,
  pair,
  metric,
  above,
  units,
  SUM(units) OVER (PARTITION BY cell, pair, metric ORDER BY size ROWS UNBOUNDED PRECEDING) - (units - 1) / 2 AS average_rank
FROM (
  SELECT cell, pair, metric, ABS(fixed) AS size, COUNT(*) AS units, SUM(CASE WHEN fixed > 0 THEN 1 ELSE 0 END) AS above
  FROM signed
  WHERE fixed <> 0
  GROUP BY cell, pair, metric, ABS(fixed)
) AS counted
