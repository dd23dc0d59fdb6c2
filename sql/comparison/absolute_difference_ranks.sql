-- absolute_difference_ranks: one row per group, pair of systems, metric and absolute difference other than 0, with its units and their average rank.
-- Grain: cell, pair, metric, above
SELECT
  cell,
  pair,
  metric,
  above,
  units,
  SUM(units) OVER (PARTITION BY cell, pair, metric ORDER BY size ROWS UNBOUNDED PRECEDING) - (units - 1) / 2 AS average_rank
FROM (
  SELECT cell, pair, metric, ABS(fixed) AS size, COUNT(*) AS units, SUM(CASE WHEN fixed > 0 THEN 1 ELSE 0 END) AS above
  FROM unit_influence
  WHERE fixed <> 0
  GROUP BY cell, pair, metric, ABS(fixed)
) AS counted
