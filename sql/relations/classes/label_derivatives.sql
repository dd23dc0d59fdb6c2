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
  f_by_hit($beta, f_divisor, f_share, f_shares) AS f_by_hit,
  share_by_label * (jaccard - jaccard_mean) / NULLIF(jaccard_shares, 0) AS jaccard_share_by_label,
  -jaccard_share * jaccard / NULLIF(union_weight, 0) / NULLIF(jaccard_shares, 0) AS jaccard_by_union,
  jaccard_share / NULLIF(union_weight, 0) / NULLIF(jaccard_shares, 0) AS jaccard_by_hit
FROM (
  -- one row per group and class
  SELECT
    share_sums.*,
    class_mean(group_id, precision, precision_share, precision_shares) AS precision_mean,
    class_mean(group_id, recall, recall_share, recall_shares) AS recall_mean,
    class_mean(group_id, f, f_share, f_shares) AS f_mean,
    class_mean(group_id, jaccard, jaccard_share, jaccard_shares) AS jaccard_mean
  FROM (
    -- one row per group and class
    SELECT
      label_rates.*,
      share_sum(group_id, precision, precision_share) AS precision_shares,
      share_sum(group_id, recall, recall_share) AS recall_shares,
      share_sum(group_id, f, f_share) AS f_shares,
      share_sum(group_id, jaccard, jaccard_share) AS jaccard_shares
    FROM label_rates
  ) AS share_sums
) AS rates_with_means
