-- crowded_cells: one row per group and grid cell that has more than 1/256 of all predictions: mean position of scores in the cell.
-- The mean is of whole numbers, whose sum is exact, so that it does not depend on the order in which an engine adds rows.
-- Grain: group_id, cell
SELECT
  cell_means.group_id, cell_means.cell,
  cell_means.mean_offset -- mean position of scores, 0 to 1
FROM (
  -- one row per group and grid cell, with the mean place of scores in it
  SELECT
    group_id, cell,
    AVG(FLOOR(16777216 * cell_offset)) / 16777216 AS mean_offset, -- mean of offsets cut to 24 bits; same in any summing order
    SUM(num_rows) AS num_rows
  FROM score_cells
  GROUP BY group_id, cell
) AS cell_means
CROSS JOIN (
  -- one row: the number of all predictions
  SELECT COUNT(*) AS num_predictions
  FROM predictions
) AS prediction_counts
WHERE 256 * cell_means.num_rows > prediction_counts.num_predictions
