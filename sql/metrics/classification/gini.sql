-- Gini: Gini coefficient of the order, 2 AUC - 1.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Requires: binary labels.
-- Range: -1 to 1.
-- Interval: influence 2 * auc_influence FROM prediction_influence, error delong, limits hanley_mcneil
-- Tie bounds: worst to best.
-- Undefined: predictions of one class only.
-- Source: Hand & Till 2001; CatBoost NormalizedGini.
SELECT
  group_id,
  2 * SUM(
    positives / NULLIF(total_positives, 0) * ((negatives_below + $tie_credit * negatives) / NULLIF(total_negatives, 0))
  ) - 1 AS gini
FROM positive_thresholds
GROUP BY group_id
