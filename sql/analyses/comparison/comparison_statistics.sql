-- comparison_statistics: one row per group, metric and pair of systems: units, means, difference, its standard error, and counts by sign.
-- Grain: cell, pair, metric
SELECT
  unit_counts.cell, -- number of the group
  unit_counts.metric, unit_counts.pair,
  unit_counts.units AS cell_units, -- units with a row of either system
  unit_counts.baseline_units, -- units with a value of the baseline
  unit_counts.system_units, -- units with a value of the system
  unit_counts.lone_units, -- units with a row of one system only
  COALESCE(mean_differences.units, 0) AS units, -- units with both values, and a positive weight
  unit_counts.units - unit_counts.null_units - COALESCE(mean_differences.units, 0) AS unpaired, -- units with one value, or without a weight
  mean_differences.value_baseline, mean_differences.value_system, mean_differences.difference,
  mean_differences.decrease, -- mean decrease, with 0 for increases
  mean_differences.scale, -- greatest absolute difference; 1 of shares
  difference_errors.se, -- standard error of the difference
  COALESCE(CASE WHEN mean_differences.is_pooled THEN difference_errors.influence_df ELSE mean_differences.units - 1 END, 0) AS df, -- degrees of freedom of the standard error
  mean_differences.class_size, -- effective number of rows of the smaller class
  mean_differences.row_effect, -- greatest effect of a row, of averages over classes
  difference_errors.integer_squares, -- sum of squared integer differences
  difference_errors.total, -- sum of integer differences
  difference_errors.above, -- units in which the system is better
  difference_errors.equal, -- units without a difference
  difference_errors.below, -- units in which the baseline is better
  difference_errors.changed -- units that change
FROM (
  -- one row per group, pair of systems and metric
  SELECT
    cell, pair, metric,
    SUM(num_rows) AS units,
    SUM(CASE WHEN baseline_value IS NULL THEN 0 ELSE num_rows END) AS baseline_units,
    SUM(CASE WHEN system_value IS NULL THEN 0 ELSE num_rows END) AS system_units,
    SUM(CASE WHEN num_systems = 1 THEN num_rows ELSE 0 END) AS lone_units,
    SUM(CASE WHEN baseline_value IS NULL AND system_value IS NULL THEN num_rows ELSE 0 END) AS null_units
  FROM paired_values
  GROUP BY cell, pair, metric
) AS unit_counts
LEFT JOIN mean_differences
  ON unit_counts.cell = mean_differences.cell
  AND unit_counts.pair = mean_differences.pair
  AND unit_counts.metric = mean_differences.metric
LEFT JOIN difference_errors
  ON unit_counts.cell = difference_errors.cell
  AND unit_counts.pair = difference_errors.pair
  AND unit_counts.metric = difference_errors.metric
ORDER BY unit_counts.cell, unit_counts.metric, unit_counts.pair
