-- class_influence: one row per prediction of positive weight: sampled unit, label, weight if right or if wrong, and influence on six metrics.
-- Columns of positives are of right predictions, whose class is the label, and columns of negatives of wrong ones.
-- The metrics are averages of precision, recall and F over classes, balanced accuracy, Cohen's kappa and the Matthews correlation.
-- Grain: rows of classified
SELECT
  classified.group_id,
  classified.unit_id, -- what was sampled independently
  classified.label,
  1 AS num_units, -- the row is one prediction
  classified.weight AS influence_weight, -- weight of the prediction
  CASE WHEN classified.label = classified.predicted THEN classified.weight ELSE 0 END AS positive_weight, -- weight, 0 if it is wrong
  CASE WHEN classified.label = classified.predicted THEN 0 ELSE classified.weight END AS negative_weight, -- weight, 0 if it is right
  cell_influence.precision_influence, -- derivative by the weight of a prediction
  cell_influence.recall_influence, -- derivative by the weight of a prediction
  cell_influence.f_influence, -- derivative by the weight of a prediction
  cell_influence.balanced_accuracy_influence, -- derivative by the weight of a prediction
  cell_influence.kappa_influence, -- derivative by the weight of a prediction
  cell_influence.mcc_influence, -- derivative by the weight of a prediction
  cell_influence.precision_flip, -- change of the metric if its outcome were the other one
  cell_influence.recall_flip, -- change of the metric if its outcome were the other one
  cell_influence.f_flip, -- change of the metric if its outcome were the other one
  cell_influence.balanced_accuracy_flip, -- change of the metric if its outcome were the other one
  cell_influence.precision_cells, -- squared effect of rows in cells of few rows, of all classes
  cell_influence.recall_cells, -- squared effect of rows in cells of few rows, of all classes
  cell_influence.balanced_accuracy_cells -- squared effect of rows in cells of few rows, of all classes
FROM classified
JOIN cell_influence
  ON classified.group_id = cell_influence.group_id AND classified.label = cell_influence.label AND classified.predicted = cell_influence.predicted
WHERE classified.weight > 0
