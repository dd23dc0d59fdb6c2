-- rare_labels: one row per group: squared effects on two averages over classes of one more row in each cell of a class that has few.
-- The averages are of precision and recall. If all observed rows of a class are found, their influence is 0.
-- rare_cell(): default half: squared effect of one more row of a cell.
-- Grain: group_id
SELECT
  group_id,
  COALESCE(SUM(
    rare_cell(precision_by_predicted + precision_by_hit, num_hits, weight, num_rows)
      + rare_cell(precision_by_predicted, num_predicted - num_hits, weight, num_rows)
  ), 0) AS precision_cells,
  COALESCE(SUM(
    rare_cell(recall_by_label + recall_by_hit, num_hits, weight, num_rows)
      + rare_cell(recall_by_label, num_observed - num_hits, weight, num_rows)
  ), 0) AS recall_cells
FROM label_derivatives
GROUP BY group_id
