-- Gini: Gini coefficient of the order, 2 AUC - 1.
--     Gini = (C - D) / (C + D) = 2 AUC - 1
-- C is the weight of pairs of a positive and a negative in the right order, D of those in the wrong one, as for AUC.
-- Full name: Gini coefficient.
-- Use when: your field reports Gini instead of AUC, as in credit scoring. Both order models the same way.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Requires: binary labels.
-- Range: -1 to 1.
-- Interval: influence 2 * auc_influence FROM prediction_influence, error delong, limits hanley_mcneil
-- Tie bounds: worst to best.
-- Undefined: predictions of one class only.
-- Source: Hand & Till 2001; CatBoost NormalizedGini.
SELECT
  group_id,
  pair_balance(positives, negatives_below, negatives, negatives_above, $tie_credit) AS gini
FROM positive_thresholds
GROUP BY group_id
