-- averaged_classes: one row per group and class: its weights, its unnormalized shares that give micro averages, and derivatives of the shares.
-- Averages are of precision, recall and F: the sum of share times ratio over the sum of shares. Derivatives of shares are by those weights.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight, -- weight of the predictions of this class
  total_weight, -- weight of all predictions
  num_rows, -- number of all predictions, without those of weight 0
  predicted_weight AS precision_share, -- share in the average of precision, unnormalized
  label_weight AS recall_share, -- share in the average of recall, unnormalized
  $beta * $beta * label_weight + predicted_weight AS f_share, -- share in the average of F, unnormalized
  0 AS precision_share_by_label, -- derivative of the share by label_weight
  1 AS precision_share_by_predicted, -- derivative of the share by predicted_weight
  1 AS recall_share_by_label, -- derivative of the share by label_weight
  $beta * $beta AS f_share_by_label, -- derivative of the share by label_weight
  1 AS f_share_by_predicted -- derivative of the share by predicted_weight
FROM class_counts
