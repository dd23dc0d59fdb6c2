-- averaged_classes: one row per group and class: its weights; its shares in the averages of precision, recall and F, which are equal, and their derivatives.
-- Grain: group_id, class_id
SELECT
  group_id,
  class_id,
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight, -- weight of the predictions of this class
  1 AS precision_share, -- share in the average of precision
  1 AS recall_share, -- share in the average of recall
  1 AS f_share, -- share in the average of F
  0 AS precision_share_by_label, -- derivative by the weight of labels
  0 AS precision_share_by_predicted, -- derivative by the weight of predictions
  0 AS recall_share_by_label, -- derivative by the weight of labels
  0 AS f_share_by_label, -- derivative by the weight of labels
  0 AS f_share_by_predicted -- derivative by the weight of predictions
FROM class_counts
