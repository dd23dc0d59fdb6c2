-- crowded_cells: one row per grid cell that has more than 1/256 of all predictions, with the mean offset of its scores.
-- The mean is computed from integers, so that it does not depend on the order in which an engine adds rows.
-- Nonzero: c.num_rows.
-- Grain: group_id, cell
SELECT
  c.group_id,
  c.cell,
  CAST(c.offset_sum AS DOUBLE) / c.num_rows / 16777216 AS mean_offset
FROM (
  SELECT
    group_id,
    cell,
    SUM(num_rows * CAST(FLOOR(16777216 * cell_offset) AS BIGINT)) AS offset_sum,
    SUM(num_rows) AS num_rows
  FROM score_cells
  GROUP BY group_id, cell
) AS c
CROSS JOIN (
  SELECT COUNT(*) AS all_rows
  FROM predictions
) AS n
WHERE 256 * c.num_rows > n.all_rows
