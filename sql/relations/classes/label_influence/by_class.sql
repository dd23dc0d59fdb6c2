-- label_influence: one row per group, prediction and class: unit, weight, and influence on averages of precision, recall, F and Jaccard index.
-- Rows have no ids.
-- The influence is that of the class: derivatives of the average, of the first kind if the class is observed, of the second if it is predicted,
-- of the third if it is both. A flip is what the other prediction, with this class or without it, would change.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Sampling unit: predictions.
-- Grain: rows of class_labels
SELECT
  class_labels.group_id,
  class_labels.unit_id, -- what was sampled independently
  class_labels.weight, -- of the prediction
  class_labels.weight AS influence_weight, -- of the prediction
  1 AS num_units, -- the row is one prediction and class
  COALESCE(class_labels.label * label_derivatives.precision_by_label, 0)
    + COALESCE(
      class_labels.predicted * label_derivatives.precision_by_predicted + class_labels.label * class_labels.predicted * label_derivatives.precision_by_hit, 0
    ) AS precision_influence, -- 0 if the ratio is 0 / 0
  COALESCE(class_labels.label * label_derivatives.recall_share_by_label, 0)
    + COALESCE(
      class_labels.label * label_derivatives.recall_by_label + class_labels.label * class_labels.predicted * label_derivatives.recall_by_hit, 0
    ) AS recall_influence, -- 0 if the ratio is 0 / 0
  COALESCE(class_labels.label * label_derivatives.f_share_by_label, 0)
    + COALESCE(
      ($beta * $beta * class_labels.label + class_labels.predicted) * label_derivatives.f_by_divisor
        + class_labels.label * class_labels.predicted * label_derivatives.f_by_hit,
      0
    ) AS f_influence, -- 0 if the ratio is 0 / 0
  COALESCE(class_labels.label * label_derivatives.jaccard_share_by_label, 0)
    + COALESCE(
      (class_labels.label + class_labels.predicted - class_labels.label * class_labels.predicted) * label_derivatives.jaccard_by_union
        + class_labels.label * class_labels.predicted * label_derivatives.jaccard_by_hit,
      0
    ) AS jaccard_influence, -- 0 if the ratio is 0 / 0
  ABS(COALESCE(label_derivatives.precision_by_predicted + class_labels.label * label_derivatives.precision_by_hit, 0)) AS precision_flip, -- absolute change by the other prediction
  ABS(COALESCE(class_labels.label * label_derivatives.recall_by_hit, 0)) AS recall_flip, -- absolute change by the other prediction
  ABS(COALESCE(label_derivatives.f_by_divisor + class_labels.label * label_derivatives.f_by_hit, 0)) AS f_flip, -- absolute change by the other prediction
  ABS(COALESCE(CASE WHEN class_labels.label = 1 THEN label_derivatives.jaccard_by_hit ELSE label_derivatives.jaccard_by_union END, 0)) AS jaccard_flip, -- absolute change by the other prediction
  rare_labels.precision_cells, -- squared effect of rows in cells of few rows, of all classes
  rare_labels.recall_cells -- squared effect of rows in cells of few rows, of all classes
FROM class_labels
LEFT JOIN label_derivatives
  ON class_labels.group_id = label_derivatives.group_id AND class_labels.class_id = label_derivatives.class_id
LEFT JOIN rare_labels ON class_labels.group_id = rare_labels.group_id
