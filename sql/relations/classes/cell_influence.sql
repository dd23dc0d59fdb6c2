-- cell_influence: one row per group, observed and predicted class that occur together: its predictions, weights, and influence on six metrics.
-- The metrics are averages of precision, recall and F over classes, balanced accuracy, Cohen's kappa and the Matthews correlation.
-- Influence is the derivative by the weight of a prediction of these classes.
-- Grain: group_id, label, predicted
SELECT
  confusion_cells.group_id, confusion_cells.label, confusion_cells.predicted,
  confusion_cells.num_predictions, -- predictions of weight 0 do not count
  confusion_cells.weight, -- of these predictions
  confusion_cells.weight_squares, -- sum of their squared weights
  confusion_cells.even_predictions, -- units of one weight with the same sums of powers
  COALESCE(label_classes.precision_by_label, 0)
    + COALESCE(predicted_classes.precision_by_predicted, 0)
    + CASE WHEN confusion_cells.label = confusion_cells.predicted THEN COALESCE(label_classes.precision_by_hit, 0) ELSE 0 END AS precision_influence,
  COALESCE(label_classes.recall_by_label, 0)
    + CASE WHEN confusion_cells.label = confusion_cells.predicted THEN COALESCE(label_classes.recall_by_hit, 0) ELSE 0 END AS recall_influence,
  COALESCE(label_classes.f_by_label, 0)
    + COALESCE(predicted_classes.f_by_predicted, 0)
    + CASE WHEN confusion_cells.label = confusion_cells.predicted THEN COALESCE(label_classes.f_by_hit, 0) ELSE 0 END AS f_influence,
  COALESCE(label_classes.balanced_accuracy_by_label, 0)
    + CASE WHEN confusion_cells.label = confusion_cells.predicted THEN COALESCE(label_classes.balanced_accuracy_by_hit, 0) ELSE 0 END AS balanced_accuracy_influence,
  COALESCE(label_classes.kappa_by_label, 0)
    + COALESCE(predicted_classes.kappa_by_predicted, 0)
    + CASE WHEN confusion_cells.label = confusion_cells.predicted THEN COALESCE(label_classes.kappa_by_hit, 0) ELSE 0 END AS kappa_influence,
  COALESCE(label_classes.mcc_by_label, 0)
    + COALESCE(predicted_classes.mcc_by_predicted, 0)
    + CASE WHEN confusion_cells.label = confusion_cells.predicted THEN COALESCE(label_classes.mcc_by_hit, 0) ELSE 0 END AS mcc_influence,
  class_flip(
    confusion_cells.label = confusion_cells.predicted,
    label_classes.precision_by_predicted + label_classes.precision_by_hit,
    label_classes.precision_by_predicted, predicted_classes.precision_by_predicted,
    rare_classes.greatest_precision_cost, rare_classes.second_precision_cost
  ) AS precision_flip, -- change of the metric if its outcome were the other one
  CASE WHEN confusion_cells.label = confusion_cells.predicted THEN -1 ELSE 1 END * COALESCE(label_classes.recall_by_hit, 0) AS recall_flip, -- change of the metric if its outcome were the other one
  class_flip(
    confusion_cells.label = confusion_cells.predicted,
    label_classes.f_by_predicted + label_classes.f_by_hit,
    label_classes.f_by_predicted, predicted_classes.f_by_predicted, rare_classes.greatest_f_cost,
    rare_classes.second_f_cost
  ) AS f_flip, -- change of the metric if its outcome were the other one
  CASE WHEN confusion_cells.label = confusion_cells.predicted THEN -1 ELSE 1 END
    * COALESCE(label_classes.balanced_accuracy_by_hit, 0) AS balanced_accuracy_flip, -- change of the metric if its outcome were the other one
  rare_classes.precision_cells, -- of all classes
  rare_classes.recall_cells, -- of all classes
  rare_classes.balanced_accuracy_cells -- of all classes
FROM confusion_cells
JOIN class_derivatives AS label_classes
  ON confusion_cells.group_id = label_classes.group_id AND confusion_cells.label = label_classes.class_id
JOIN class_derivatives AS predicted_classes
  ON confusion_cells.group_id = predicted_classes.group_id AND confusion_cells.predicted = predicted_classes.class_id
LEFT JOIN rare_classes ON confusion_cells.group_id = rare_classes.group_id
