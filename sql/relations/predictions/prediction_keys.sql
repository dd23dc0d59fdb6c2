-- prediction_keys: one row per prediction: score, weight, and sort key of its group, cell and label.
-- Grain: rows of prediction_cells
SELECT
  score, weight,
  cell_key + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
FROM prediction_cells
