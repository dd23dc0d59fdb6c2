-- crowded_cells: one row per group and grid cell that has more than 1/256 of all predictions: mean position of scores in the cell.
-- The mean is computed from integers, so that it does not depend on the order in which an engine adds rows.
-- Nonzero: cell_offsets.num_rows.
-- Grain: group_id, cell
SELECT
  cell_offsets.group_id,
  cell_offsets.cell,
  CAST(cell_offsets.offset_sum AS DOUBLE) / cell_offsets.num_rows / 16777216 AS mean_offset -- mean position of scores, 0 to 1
FROM (
  -- one row per group and grid cell
  SELECT
    group_id,
    cell,
    SUM(num_rows * CAST(FLOOR(16777216 * cell_offset) AS BIGINT)) AS offset_sum, -- in whole 2^-24, so that row order does not matter
    SUM(num_rows) AS num_rows
  FROM score_cells
  GROUP BY group_id, cell
) AS cell_offsets
CROSS JOIN (
  -- one row: the number of all predictions
  SELECT COUNT(*) AS num_predictions
  FROM predictions
) AS prediction_counts
WHERE 256 * cell_offsets.num_rows > prediction_counts.num_predictions
