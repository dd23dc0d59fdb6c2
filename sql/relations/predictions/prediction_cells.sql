-- prediction_cells: one row per prediction: label, score, weight, and sort key of the negatives of its group and cell.
-- The keys of a cell are an even integer for negatives, and the next for positives.
-- Materialize: never (to compute the cells again costs less than to store the rows).
-- Grain: rows of predictions
SELECT
  group_id, label, score, weight,
  group_key + score_cell(cell_position, max_cell) AS cell_key -- even
FROM (
  -- one row per prediction
  SELECT
    predictions.*,
    (signed_fourth_root(predictions.score) - cell_scale.min_root) * cell_scale.cells_per_unit AS cell_position,
    cell_scale.max_cell,
    (numbered_groups.group_number - 1) * cell_scale.keys_per_group AS group_key
  FROM predictions
  JOIN numbered_groups ON numbered_groups.group_id = predictions.group_id
  CROSS JOIN cell_scale
) AS cell_positions
