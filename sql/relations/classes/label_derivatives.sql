-- label_derivatives: one row per group and class: derivatives of four averages over classes by its observed, predicted and hit weights.
-- The averages are of precision, recall, F and the Jaccard index.
-- The influence of a prediction is the sum of the first of its observed classes, of the second of those predicted, and of the third of those that are both.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Source: the delta method.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  weight, -- weight of the predictions that have a row of the class
  num_rows, -- number of these predictions
  num_observed, -- weight of the predictions of which the class is observed
  num_predicted, -- weight of the predictions of which the class is predicted
  num_hits, -- weight of the predictions of which it is both
  share_by_label * (precision - precision_mean) / NULLIF(precision_shares, 0) AS precision_by_label,
  -precision_share * num_hits / NULLIF(num_predicted, 0) / NULLIF(num_predicted, 0) / NULLIF(precision_shares, 0) AS precision_by_predicted,
  precision_share / NULLIF(num_predicted, 0) / NULLIF(precision_shares, 0) AS precision_by_hit,
  share_by_label * (recall - recall_mean) / NULLIF(recall_shares, 0) AS recall_share_by_label,
  -recall_share * num_hits / NULLIF(num_observed, 0) / NULLIF(num_observed, 0) / NULLIF(recall_shares, 0) AS recall_by_label,
  recall_share / NULLIF(num_observed, 0) / NULLIF(recall_shares, 0) AS recall_by_hit,
  share_by_label * (f - f_mean) / NULLIF(f_shares, 0) AS f_share_by_label,
  -f_share * f / NULLIF(f_divisor, 0) / NULLIF(f_shares, 0) AS f_by_divisor,
  (1 + $beta * $beta) * f_share / NULLIF(f_divisor, 0) / NULLIF(f_shares, 0) AS f_by_hit,
  share_by_label * (jaccard - jaccard_mean) / NULLIF(jaccard_shares, 0) AS jaccard_share_by_label,
  -jaccard_share * jaccard / NULLIF(union_weight, 0) / NULLIF(jaccard_shares, 0) AS jaccard_by_union,
  jaccard_share / NULLIF(union_weight, 0) / NULLIF(jaccard_shares, 0) AS jaccard_by_hit
FROM (
  -- one row per group and class
  SELECT
    share_sums.*,
    SUM(precision_share * precision) OVER (PARTITION BY group_id) / NULLIF(precision_shares, 0) AS precision_mean,
    SUM(recall_share * recall) OVER (PARTITION BY group_id) / NULLIF(recall_shares, 0) AS recall_mean,
    SUM(f_share * f) OVER (PARTITION BY group_id) / NULLIF(f_shares, 0) AS f_mean,
    SUM(jaccard_share * jaccard) OVER (PARTITION BY group_id) / NULLIF(jaccard_shares, 0) AS jaccard_mean
  FROM (
    -- one row per group and class
    SELECT
      label_rates.*,
      SUM(CASE WHEN precision IS NULL THEN 0 ELSE precision_share END) OVER (PARTITION BY group_id) AS precision_shares,
      SUM(CASE WHEN recall IS NULL THEN 0 ELSE recall_share END) OVER (PARTITION BY group_id) AS recall_shares,
      SUM(CASE WHEN f IS NULL THEN 0 ELSE f_share END) OVER (PARTITION BY group_id) AS f_shares,
      SUM(CASE WHEN jaccard IS NULL THEN 0 ELSE jaccard_share END) OVER (PARTITION BY group_id) AS jaccard_shares
    FROM label_rates
  ) AS share_sums
) AS rates_with_means
