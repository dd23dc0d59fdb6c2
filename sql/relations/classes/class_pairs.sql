-- class_pairs: one row per group and pair of an observed and a predicted class: disagreement, numbers and weights of both, and predictions.
-- Pairs without predictions have a row, too.
-- disagreement(): default quadratic: how wrong it is to predict one class for another, by their places in the order of classes.
-- Grain: group_id, label, predicted
SELECT
  label_classes.group_id,
  label_classes.class_id AS label,
  predicted_classes.class_id AS predicted,
  label_classes.class_number AS label_number, -- place in the order of classes
  predicted_classes.class_number AS predicted_number, -- place in the order of classes
  disagreement(label_classes.class_number, predicted_classes.class_number) AS disagreement, -- 0 if the classes are the same
  label_classes.label_weight, -- weight of all predictions with the label
  predicted_classes.predicted_weight, -- weight of all predictions of the class
  COALESCE(confusion_cells.num_predictions, 0) AS num_predictions, -- predictions of weight 0 do not count
  COALESCE(confusion_cells.weight, 0) AS weight,
  COALESCE(confusion_cells.weight_squares, 0) AS weight_squares, -- sum of squared weights
  confusion_cells.even_predictions -- units of one weight with the same sums of powers
FROM numbered_classes AS label_classes
JOIN numbered_classes AS predicted_classes
  ON label_classes.group_id = predicted_classes.group_id
LEFT JOIN confusion_cells
  ON label_classes.group_id = confusion_cells.group_id
  AND label_classes.class_id = confusion_cells.label
  AND predicted_classes.class_id = confusion_cells.predicted
