-- mean_differences: one row per group, pair of systems and metric: units, and weighted means of both values and of their difference.
-- Grain: cell, pair, metric
SELECT
  cell, -- number of the group
  pair, metric,
  contrast, -- number of group, pair and metric
  SUM(num_rows) AS units, -- units with both values, and a positive weight
  SUM(num_rows * weight) AS total_weight, -- of these units
  SUM(num_rows * weight * baseline_value) / NULLIF(SUM(num_rows * weight), 0) AS value_baseline, -- weighted mean of the baseline
  SUM(num_rows * weight * system_value) / NULLIF(SUM(num_rows * weight), 0) AS value_system, -- weighted mean of the system
  SUM(num_rows * weight * difference) / NULLIF(SUM(num_rows * weight), 0) AS difference, -- weighted mean of the differences
  SUM(num_rows * weight * CASE WHEN difference < 0 THEN -difference ELSE 0 END) / NULLIF(SUM(num_rows * weight), 0) AS decrease, -- weighted mean, with 0 for increases
  CASE WHEN MAX(is_share) THEN 1 ELSE MAX(ABS(difference)) END AS scale, -- greatest absolute difference; 1 of shares
  MAX(is_pooled) AS is_pooled, -- true if values are influence on a metric of all rows
  MAX(area_width) AS area_width, -- of areas such as AUC: 1, or 2 for metrics between -1 and 1
  MAX(positive_size) AS positive_size, -- effective number of positives
  MAX(negative_size) AS negative_size, -- effective number of negatives
  MAX(CASE WHEN positive_size IS NULL THEN GREATEST(ABS(baseline_flip), ABS(system_flip)) END) AS row_effect, -- greatest effect of a row, of averages over classes
  smaller(MAX(positive_size), MAX(negative_size)) AS class_size -- effective number of rows of the smaller class
FROM unit_differences
GROUP BY cell, pair, metric, contrast
