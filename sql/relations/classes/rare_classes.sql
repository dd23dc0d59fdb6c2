-- rare_classes: one row per group: squared effects on three averages of one more row in each cell of a class that has few.
-- The averages are of precision, recall, and recall over observed classes. If all rows of a class are right, their influence is 0.
-- rare_row(): default below_five: weight of one more row of a cell.
-- cell_square(): default half: squared effect of it.
-- Grain: group_id
SELECT
  group_id,
  COALESCE(SUM(
    cell_square(precision_by_predicted + precision_by_hit, hit_weight)
      + cell_square(precision_by_predicted, false_weight)
  ), 0) AS precision_cells,
  COALESCE(SUM(
    cell_square(recall_by_label + recall_by_hit, hit_weight)
      + cell_square(recall_by_label, miss_weight)
  ), 0) AS recall_cells,
  COALESCE(SUM(
    cell_square(balanced_accuracy_by_label + balanced_accuracy_by_hit, hit_weight)
      + cell_square(balanced_accuracy_by_label, miss_weight)
  ), 0) AS balanced_accuracy_cells
FROM (
  -- one row per group and class
  SELECT
    group_id,
    precision_by_predicted,
    precision_by_hit,
    recall_by_label,
    recall_by_hit,
    balanced_accuracy_by_label,
    balanced_accuracy_by_hit,
    rare_row(tp, total_weight, num_rows) AS hit_weight, -- weight of one more row that is right, 0 if there are enough
    rare_row(predicted_weight - tp, total_weight, num_rows) AS false_weight, -- of one more row that is wrongly of the class
    rare_row(label_weight - tp, total_weight, num_rows) AS miss_weight -- of one more row of the class that is missed
  FROM class_derivatives
) AS class_row_weights
GROUP BY group_id
