-- rare_classes: one row per group: squared effects on three averages of one more row in each cell of a class that has few.
-- The averages are of precision, recall, and recall over observed classes. If all rows of a class are right, their influence is 0.
-- rare_cell(): default half: squared effect of one more row of a cell.
-- Grain: group_id
SELECT
  group_id,
  COALESCE(SUM(
    rare_cell(precision_by_predicted + precision_by_hit, tp, total_weight, num_rows)
      + rare_cell(precision_by_predicted, predicted_weight - tp, total_weight, num_rows)
  ), 0) AS precision_cells,
  COALESCE(SUM(
    rare_cell(recall_by_label + recall_by_hit, tp, total_weight, num_rows)
      + rare_cell(recall_by_label, label_weight - tp, total_weight, num_rows)
  ), 0) AS recall_cells,
  COALESCE(SUM(
    rare_cell(balanced_accuracy_by_label + balanced_accuracy_by_hit, tp, total_weight, num_rows)
      + rare_cell(balanced_accuracy_by_label, label_weight - tp, total_weight, num_rows)
  ), 0) AS balanced_accuracy_cells
FROM class_derivatives
GROUP BY group_id
