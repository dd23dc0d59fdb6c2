-- unit_differences: one row per group, pair of systems, metric and unit with both values: weight, both values, and their difference.
-- Grain: cell, pair, metric, unit
SELECT
  cell, -- number of the group
  pair, metric,
  contrast, -- number of group, pair and metric
  num_rows, -- input rows of these values, 1 unless equal rows are counted
  unit, weight, baseline_value, system_value,
  system_value - baseline_value AS difference, -- value of the system less that of the baseline
  is_share, -- true if values are shares of 1
  is_pooled, -- true if values are influence on a metric of all rows
  area_width, -- of areas such as AUC: 1, or 2 for metrics between -1 and 1
  positive_size, -- effective number of positives
  negative_size, -- effective number of negatives
  baseline_flip, -- what the other outcome of the row would give the baseline
  system_flip, -- the same of the system
  flip_label -- label of the row
FROM paired_values
WHERE baseline_value IS NOT NULL AND system_value IS NOT NULL AND weight > 0
