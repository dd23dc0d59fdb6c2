-- difference_errors: one row per group, pair of systems and metric: standard error of the mean difference, and sums and signs of differences.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair,
  metric,
  SQRT(COUNT(*) / NULLIF(COUNT(*) - 1, 0) * SUM(influence * influence)) AS se, -- standard error of the mean difference
  SUM(integer_difference * integer_difference) AS squares, -- sum of squared integer differences
  SUM(integer_difference) AS total, -- sum of integer differences
  SUM(CASE WHEN integer_difference > 0 THEN 1 ELSE 0 END) AS above, -- units in which the system is better
  SUM(CASE WHEN integer_difference = 0 THEN 1 ELSE 0 END) AS equal, -- units without a difference
  SUM(CASE WHEN integer_difference < 0 THEN 1 ELSE 0 END) AS below -- units in which the baseline is better
FROM unit_influence
GROUP BY cell, pair, metric
