-- unit_influence: one row per group, pair of systems, metric and unit, with its influence on the mean difference and its difference as an integer.
-- The integer is a multiple of 2^-30 of the scale, so that equal decimals are equal, and sums do not depend on the order of rows.
-- Grain: cell, pair, metric, unit
SELECT
  d.cell,
  d.pair,
  d.metric,
  d.unit,
  d.weight * (d.difference - a.difference) / NULLIF(a.all_weight, 0) AS influence,
  FLOOR(COALESCE(d.difference / NULLIF(a.scale, 0), 0) * 1073741824 + 0.5) AS fixed
FROM unit_differences AS d
INNER JOIN mean_differences AS a ON d.cell = a.cell AND d.pair = a.pair AND d.metric = a.metric
