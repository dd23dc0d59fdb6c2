-- class_rates: one row per group and class: weights, precision, recall, F, their unnormalized shares in averages, and derivatives of the shares.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- zero_division(): default zero: value of a class whose ratio is 0 / 0.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight, -- weight of the predictions of this class
  total_weight, -- weight of all predictions
  num_rows, -- number of all predictions, without those of weight 0
  zero_division(tp / NULLIF(predicted_weight, 0)) AS precision,
  zero_division(tp / NULLIF(label_weight, 0)) AS recall,
  zero_division(f_measure($beta, tp, label_weight, predicted_weight)) AS f,
  precision_share, -- share in the average of precision, unnormalized
  recall_share, -- share in the average of recall, unnormalized
  f_share, -- share in the average of F, unnormalized
  precision_share_by_label, -- derivative of the share by label_weight
  precision_share_by_predicted, -- derivative of the share by predicted_weight
  recall_share_by_label, -- derivative of the share by label_weight
  f_share_by_label, -- derivative of the share by label_weight
  f_share_by_predicted -- derivative of the share by predicted_weight
FROM averaged_classes
