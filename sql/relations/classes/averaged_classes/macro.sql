-- averaged_classes: one row per group and class: its weights, its unnormalized shares of 1 in macro averages, and derivatives of the shares.
-- Averages are of precision, recall and F: the sum of share times ratio over the sum of shares. Derivatives of shares are by those weights.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight, -- weight of the predictions of this class
  total_weight, -- weight of all predictions
  num_rows, -- number of all predictions, without those of weight 0
  1 AS precision_share, -- share in the average of precision, unnormalized
  1 AS recall_share, -- share in the average of recall, unnormalized
  1 AS f_share, -- share in the average of F, unnormalized
  0 AS precision_share_by_label, -- derivative of the share by label_weight
  0 AS precision_share_by_predicted, -- derivative of the share by predicted_weight
  0 AS recall_share_by_label, -- derivative of the share by label_weight
  0 AS f_share_by_label, -- derivative of the share by label_weight
  0 AS f_share_by_predicted -- derivative of the share by predicted_weight
FROM class_counts
