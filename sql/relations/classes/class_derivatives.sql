-- class_derivatives: one row per group and class: derivatives of mean P, R and F, balanced accuracy, kappa and MCC by its class weights.
-- The metrics are averages of precision, recall and F over classes, balanced accuracy, Cohen's kappa and the Matthews correlation.
-- The influence of a prediction is the sum of the first of its label, of the second of its predicted class and, if it is right, of the third.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Source: the delta method.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight, -- weight of the predictions of this class
  total_weight, -- weight of all predictions
  num_rows, -- number of all predictions, without those of weight 0
  precision_share_by_label * (precision - precision_mean) / NULLIF(precision_shares, 0) AS precision_by_label,
  (precision_share_by_predicted * (precision - precision_mean) - precision_share * hit_share / NULLIF(predicted_weight, 0))
    / NULLIF(precision_shares, 0) AS precision_by_predicted,
  precision_share / NULLIF(predicted_weight, 0) / NULLIF(precision_shares, 0) AS precision_by_hit,
  (recall_share_by_label * (recall - recall_mean) - recall_share * right_share / NULLIF(label_weight, 0))
    / NULLIF(recall_shares, 0) AS recall_by_label,
  recall_share / NULLIF(label_weight, 0) / NULLIF(recall_shares, 0) AS recall_by_hit,
  (f_share_by_label * (f - f_mean) - $beta * $beta * f_share * f / NULLIF(f_divisor, 0)) / NULLIF(f_shares, 0) AS f_by_label,
  (f_share_by_predicted * (f - f_mean) - f_share * f / NULLIF(f_divisor, 0)) / NULLIF(f_shares, 0) AS f_by_predicted,
  f_by_hit($beta, f_divisor, f_share, f_shares) AS f_by_hit,
  -right_share / NULLIF(label_weight, 0) / NULLIF(observed_classes, 0) AS balanced_accuracy_by_label,
  1 / NULLIF(label_weight, 0) / NULLIF(observed_classes, 0) AS balanced_accuracy_by_hit,
  (hits - 2 * kappa * total_weight + (kappa - 1) * predicted_weight) / NULLIF(total_weight * total_weight - chance, 0) AS kappa_by_label,
  (kappa - 1) * label_weight / NULLIF(total_weight * total_weight - chance, 0) AS kappa_by_predicted,
  total_weight / NULLIF(total_weight * total_weight - chance, 0) AS kappa_by_hit,
  (hits - predicted_weight) / NULLIF(spread, 0)
    - mcc * (total_weight / NULLIF(predicted_spread, 0) + (total_weight - label_weight) / NULLIF(label_spread, 0)) AS mcc_by_label,
  mcc * predicted_weight / NULLIF(predicted_spread, 0) - label_weight / NULLIF(spread, 0) AS mcc_by_predicted,
  total_weight / NULLIF(spread, 0) AS mcc_by_hit
FROM (
  -- one row per group and class
  SELECT
    class_totals.*,
    class_mean(group_id, precision, precision_share, precision_shares) AS precision_mean,
    class_mean(group_id, recall, recall_share, recall_shares) AS recall_mean,
    class_mean(group_id, f, f_share, f_shares) AS f_mean,
    (hits * total_weight - chance) / NULLIF(total_weight * total_weight - chance, 0) AS kappa,
    SQRT(predicted_spread) * SQRT(label_spread) AS spread,
    (hits * total_weight - chance) / NULLIF(SQRT(predicted_spread), 0) / NULLIF(SQRT(label_spread), 0) AS mcc
  FROM (
    -- one row per group and class
    SELECT
      class_rates.*,
      tp / NULLIF(predicted_weight, 0) AS hit_share, -- precision; NULL of a class that is not predicted
      tp / NULLIF(label_weight, 0) AS right_share, -- recall; NULL of a class that is not observed
      $beta * $beta * label_weight + predicted_weight AS f_divisor,
      share_sum(group_id, precision, precision_share) AS precision_shares,
      share_sum(group_id, recall, recall_share) AS recall_shares,
      share_sum(group_id, f, f_share) AS f_shares,
      SUM(CASE WHEN label_weight > 0 THEN 1 ELSE 0 END) OVER (PARTITION BY group_id) AS observed_classes,
      SUM(tp) OVER (PARTITION BY group_id) AS hits,
      SUM(label_weight * predicted_weight) OVER (PARTITION BY group_id) AS chance,
      SUM(predicted_weight * CASE WHEN predicted_weight < total_weight THEN total_weight - predicted_weight ELSE 0 END) OVER (PARTITION BY group_id) AS predicted_spread,
      SUM(label_weight * CASE WHEN label_weight < total_weight THEN total_weight - label_weight ELSE 0 END) OVER (PARTITION BY group_id) AS label_spread
    FROM class_rates
  ) AS class_totals
) AS class_means
