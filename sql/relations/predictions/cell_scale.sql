-- cell_scale: one row: map of scores to integer cells: fourth root of the lowest score, cells per unit of root, last cell, sort keys per group.
-- The fourth root of a score, less that of the lowest score, times the factor is its position. A group has two sort keys per cell, and all
-- groups together at most 2^48.
-- Grain: one row
SELECT
  root_extremes.min_root, -- signed fourth root of the lowest score
  COALESCE(
    cell_counts.max_cell / NULLIF(root_extremes.max_root - root_extremes.min_root, 0), 0
  ) AS cells_per_unit, -- factor; 0 if all scores are equal
  cell_counts.max_cell, -- number of the last cell
  2 * cell_counts.max_cell + 2 AS keys_per_group -- integers that a group has for its sort keys
FROM (
  -- one row
  SELECT
    signed_fourth_root(MIN(score)) AS min_root,
    signed_fourth_root(MAX(score)) AS max_root
  FROM predictions
) AS root_extremes
CROSS JOIN (
  -- one row
  SELECT FLOOR(140737488355328.0 / NULLIF(COUNT(*), 0)) - 1 AS max_cell
  FROM numbered_groups
) AS cell_counts
