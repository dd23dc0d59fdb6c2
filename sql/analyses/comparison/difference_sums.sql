-- difference_sums: one row per group, pair of systems and metric: powers of the influence of units, and sums and signs of differences.
-- Powers include those of rows that are added where few change.
-- Grain: cell, pair, metric
SELECT
  unit_sums.cell, -- number of the group
  unit_sums.pair, unit_sums.metric, unit_sums.units,
  unit_sums.squares + CASE
    WHEN unit_sums.above + unit_sums.below > 0 THEN COALESCE(rare_changes.squares, 0)
    ELSE 0
  END AS squares, -- of the influence of units
  unit_sums.fourth_powers + CASE
    WHEN unit_sums.above + unit_sums.below > 0 THEN COALESCE(rare_changes.fourth_powers, 0)
    ELSE 0
  END AS fourth_powers, -- of the influence of units
  unit_sums.baseline_squares, -- of the influence on the baseline's area
  unit_sums.system_squares, -- of the influence on the system's area
  unit_sums.integer_squares, -- sum of squared integer differences
  unit_sums.total, -- sum of integer differences
  unit_sums.above, -- units in which the system is better
  unit_sums.equal, -- units without a difference
  unit_sums.below, -- units in which the baseline is better
  unit_sums.changed -- units that change; all may move a ratio of which few do
FROM (
  -- one row per group, pair of systems and metric
  SELECT
    cell, pair, metric,
    SUM(num_rows) AS units,
    SUM(num_rows * influence * influence) AS squares,
    SUM(num_rows * influence * influence * influence * influence) AS fourth_powers,
    SUM(num_rows * baseline_influence * baseline_influence) AS baseline_squares,
    SUM(num_rows * system_influence * system_influence) AS system_squares,
    SUM(num_rows * integer_difference * integer_difference) AS integer_squares,
    SUM(num_rows * integer_difference) AS total,
    SUM(CASE WHEN integer_difference > 0 THEN num_rows ELSE 0 END) AS above,
    SUM(CASE WHEN integer_difference = 0 THEN num_rows ELSE 0 END) AS equal,
    SUM(CASE WHEN integer_difference < 0 THEN num_rows ELSE 0 END) AS below,
    SUM(CASE WHEN COALESCE(is_flipped, integer_difference) <> 0 THEN num_rows ELSE 0 END) AS changed
  FROM unit_influence
  GROUP BY cell, pair, metric
) AS unit_sums
LEFT JOIN rare_changes
  ON unit_sums.cell = rare_changes.cell
  AND unit_sums.pair = rare_changes.pair
  AND unit_sums.metric = rare_changes.metric
