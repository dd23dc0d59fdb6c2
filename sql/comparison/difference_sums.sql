-- difference_sums: one row per group, pair of systems and metric: powers of the influence of units, and sums and signs of differences.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair,
  metric,
  COUNT(*) AS units,
  SUM(influence * influence) AS squares, -- of the influence of units
  SUM(influence * influence * influence * influence) AS fourth_powers, -- of the influence of units
  SUM(baseline_influence * baseline_influence) AS baseline_squares, -- of the influence on the baseline's area
  SUM(system_influence * system_influence) AS system_squares, -- of the influence on the system's area
  SUM(integer_difference * integer_difference) AS integer_squares, -- sum of squared integer differences
  SUM(integer_difference) AS total, -- sum of integer differences
  SUM(CASE WHEN integer_difference > 0 THEN 1 ELSE 0 END) AS above, -- units in which the system is better
  SUM(CASE WHEN integer_difference = 0 THEN 1 ELSE 0 END) AS equal, -- units without a difference
  SUM(CASE WHEN integer_difference < 0 THEN 1 ELSE 0 END) AS below -- units in which the baseline is better
FROM unit_influence
GROUP BY cell, pair, metric
