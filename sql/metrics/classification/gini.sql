-- Gini: Gini coefficient of the order, 2 AUC - 1.
-- $tie_credit: number from 0 to 1, default 0.5: what a tie of a positive and a negative counts.
-- Requires: binary labels.
-- Bounds: -1 to 1.
-- Influence: 2 * auc_move FROM movements.
-- Standard error: delong.
-- Interval: hanley_mcneil.
-- Orders: worst to best.
-- Undefined: predictions of one class only.
-- Source: Hand & Till 2001; CatBoost NormalizedGini.
SELECT
  group_id,
  2 * SUM(
    positives / NULLIF(all_positives, 0) * ((negatives_below + $tie_credit * negatives) / NULLIF(all_negatives, 0))
  ) - 1 AS gini
FROM thresholds
GROUP BY group_id
