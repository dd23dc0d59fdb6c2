-- prediction_keys: one row per prediction: score, weight, and sort key of its group, cell and label.
-- The keys of a cell are an even integer for negatives, and the next for positives.
-- Grain: rows of predictions
SELECT
  score, weight,
  group_key + score_cell(cell_position, max_cell) + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
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
