-- cell_scale: one row, with the offset and the factor that map a score to its integer cell.
-- The fourth root of a score, less that of the lowest score, times the factor is its position; the factor is 0 if all scores are
-- equal. A group has two sort keys per cell, and all groups together at most 2^48.
-- Grain: one row
SELECT
  e.min_root,
  COALESCE(c.max_cell / NULLIF(e.high - e.min_root, 0), 0) AS cells_per_unit,
  c.max_cell,
  2 * c.max_cell + 2 AS keys_per_group
FROM (
  SELECT
    signed_fourth_root(MIN(score)) AS min_root,
    signed_fourth_root(MAX(score)) AS high
  FROM predictions
) AS e
CROSS JOIN (
  SELECT FLOOR(140737488355328.0 / NULLIF(COUNT(*), 0)) - 1 AS max_cell
  FROM numbered_groups
) AS c
