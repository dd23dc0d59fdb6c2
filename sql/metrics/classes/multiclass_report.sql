-- MulticlassReport: one row per group and class that is observed or predicted: precision, recall, F and weights of labels and predictions.
-- Use when: you want to see which classes are weak.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Undefined: the precision of a class that is never predicted, the recall of one that is never observed.
-- Source: scikit-learn classification_report.
SELECT
  group_id,
  class_number AS point, -- number of the class, in their order
  class_id AS label, -- the class
  tp / NULLIF(predicted_weight, 0) AS precision,
  tp / NULLIF(label_weight, 0) AS recall,
  f_measure($beta, tp, label_weight, predicted_weight) AS f_beta,
  label_weight, -- weight of the predictions with this label
  predicted_weight -- weight of the predictions of this class
FROM numbered_classes
