-- averaged_classes: one row per group and class: weights of its labels, predictions and right ones; its weights in micro averages, and their derivatives.
-- $beta: number above 0 to 10000, default 1: how many times recall counts as much as precision.
-- Grain: group_id, class_id
SELECT
  group_id,
  class_id,
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight, -- weight of the predictions of this class
  predicted_weight AS precision_share, -- share in the average of precision
  label_weight AS recall_share, -- share in the average of recall
  $beta * $beta * label_weight + predicted_weight AS f_share, -- share in the average of F
  0 AS precision_share_by_label, -- derivative by the weight of labels
  1 AS precision_share_by_predicted, -- derivative by the weight of predictions
  1 AS recall_share_by_label, -- derivative by the weight of labels
  $beta * $beta AS f_share_by_label, -- derivative by the weight of labels
  1 AS f_share_by_predicted -- derivative by the weight of predictions
FROM class_counts
