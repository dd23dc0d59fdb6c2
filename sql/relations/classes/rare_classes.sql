-- rare_classes: one row per group: squared effects on three averages of one more row in each cell of a class that has few.
-- The averages are of precision, recall, and recall over observed classes. If all rows of a class are right, their influence is 0.
-- Also the effect of a false alarm on averages of precision and F, in the two classes where it costs most.
-- Grain: group_id
SELECT
  group_id,
  rare_cells(precision_by_predicted, precision_by_hit, hit_weight, false_weight) AS precision_cells,
  rare_cells(recall_by_label, recall_by_hit, hit_weight, miss_weight) AS recall_cells,
  rare_cells(balanced_accuracy_by_label, balanced_accuracy_by_hit, hit_weight, miss_weight) AS balanced_accuracy_cells,
  MIN(CASE WHEN precision_place = 1 THEN precision_by_predicted END) AS greatest_precision_cost,
  MIN(CASE WHEN precision_place = 2 THEN precision_by_predicted END) AS second_precision_cost,
  MIN(CASE WHEN f_place = 1 THEN f_by_predicted END) AS greatest_f_cost,
  MIN(CASE WHEN f_place = 2 THEN f_by_predicted END) AS second_f_cost
FROM (
  -- one row per group and class
  SELECT
    class_derivatives.*,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY COALESCE(precision_by_predicted, 0)) AS precision_place,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY COALESCE(f_by_predicted, 0)) AS f_place,
    rare_row(tp, total_weight, num_rows) AS hit_weight, -- weight of one more row that is right, 0 if there are enough
    rare_row(predicted_weight - tp, total_weight, num_rows) AS false_weight, -- of one more row that is wrongly of the class
    rare_row(label_weight - tp, total_weight, num_rows) AS miss_weight -- of one more row of the class that is missed
  FROM class_derivatives
) AS class_row_weights
GROUP BY group_id
