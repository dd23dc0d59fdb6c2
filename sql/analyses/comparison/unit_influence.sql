-- unit_influence: one row per group, pair of systems, metric and unit: its influence on the mean difference, and its difference as an integer.
-- The integer is a multiple of 2^-30 of the scale, so that equal decimals are equal, and sums do not depend on the order of rows.
-- Grain: cell, pair, metric, unit
SELECT
  unit_differences.cell, -- number of the group
  unit_differences.pair, unit_differences.metric, unit_differences.unit,
  unit_differences.num_rows, -- input rows of these values
  unit_differences.weight * (unit_differences.difference - mean_differences.difference)
    / NULLIF(mean_differences.total_weight, 0) AS influence, -- derivative of the mean difference, times the weight
  CASE
    WHEN unit_differences.area_width IS NOT NULL
      THEN unit_differences.weight * (unit_differences.baseline_value - mean_differences.value_baseline)
        / NULLIF(mean_differences.total_weight, 0)
  END AS baseline_influence, -- the same of the baseline's value, for areas
  CASE
    WHEN unit_differences.area_width IS NOT NULL
      THEN unit_differences.weight * (unit_differences.system_value - mean_differences.value_system)
        / NULLIF(mean_differences.total_weight, 0)
  END AS system_influence, -- the same of the system's value, for areas
  CASE WHEN unit_differences.flip_label IS NOT NULL THEN CASE WHEN unit_differences.baseline_flip * unit_differences.system_flip < 0 THEN 1 ELSE 0 END END AS is_flipped, -- 1 if one system alone is right, NULL without an outcome
  FLOOR(
    COALESCE(unit_differences.difference / NULLIF(mean_differences.scale, 0), 0) * 1073741824 + 0.5
  ) AS integer_difference -- difference in units of 2^-30 of the scale
FROM unit_differences
INNER JOIN mean_differences
  ON unit_differences.contrast = mean_differences.contrast
