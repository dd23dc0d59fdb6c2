-- mean_differences: one row per group, pair of systems and metric, with the number of paired units and the weighted means over them.
-- Grain: cell, pair, metric
SELECT
  cell,
  pair,
  metric,
  COUNT(*) AS units,
  SUM(weight) AS all_weight,
  SUM(weight * baseline_value) / NULLIF(SUM(weight), 0) AS value_baseline,
  SUM(weight * system_value) / NULLIF(SUM(weight), 0) AS value_system,
  SUM(weight * difference) / NULLIF(SUM(weight), 0) AS difference,
  CASE WHEN MAX(is_share) THEN 1 ELSE MAX(ABS(difference)) END AS scale
FROM unit_differences
GROUP BY cell, pair, metric
