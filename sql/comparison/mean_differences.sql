-- mean_differences: one row per group, pair of systems and metric: units, and weighted means of both values and of their difference.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair,
  metric,
  COUNT(*) AS units, -- units with both values, and a positive weight
  SUM(weight) AS total_weight, -- of these units
  SUM(weight * baseline_value) / NULLIF(SUM(weight), 0) AS value_baseline, -- weighted mean of the baseline
  SUM(weight * system_value) / NULLIF(SUM(weight), 0) AS value_system, -- weighted mean of the system
  SUM(weight * difference) / NULLIF(SUM(weight), 0) AS difference, -- weighted mean of the differences
  CASE WHEN MAX(is_share) THEN 1 ELSE MAX(ABS(difference)) END AS scale -- greatest absolute difference; 1 of shares
FROM unit_differences
GROUP BY cell, pair, metric
