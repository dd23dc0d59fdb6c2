-- rare_labels: one row per group: squared effects on two averages over classes of one more row in each cell of a class that has few.
-- The averages are of precision and recall. If all observed rows of a class are found, their influence is 0.
-- Grain: group_id
SELECT
  group_id,
  rare_cells(precision_by_predicted, precision_by_hit, hit_weight, false_weight) AS precision_cells,
  rare_cells(recall_by_label, recall_by_hit, hit_weight, miss_weight) AS recall_cells
FROM (
  -- one row per group and class
  SELECT
    label_derivatives.*,
    rare_row(num_hits, weight, num_rows) AS hit_weight, -- weight of one more row that is right, 0 if there are enough
    rare_row(num_predicted - num_hits, weight, num_rows) AS false_weight, -- of one more row that is wrongly of the class
    rare_row(num_observed - num_hits, weight, num_rows) AS miss_weight -- of one more row of the class that is missed
  FROM label_derivatives
) AS label_row_weights
GROUP BY group_id
