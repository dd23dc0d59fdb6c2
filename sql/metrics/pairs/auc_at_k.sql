-- AUC@k: AUC of the k highest predictions alone, the probability that a positive among them is scored above a negative among them.
--     AUC@k = 1 - pairs in wrong order / pairs of a positive and a negative
-- Pairs in wrong order are counted, so that a perfect order has exactly 1. Rounding makes it no less than 0.
-- Full name: area under the ROC curve of the k highest scores.
-- Use when: only the k highest predictions are used, and you want the order among them.
-- $k: integer from 1: number of top-ranked predictions that count; with weights, their total weight.
-- $tie_credit: number from 0 to 1, default 0.5: credit of a positive and a negative of equal scores.
-- Requires: binary labels.
-- Interval: bootstrap (which negatives are the highest depends on all rows)
-- Range: 0 to 1.
-- Undefined: the first k predictions are of one class.
-- Source: TorchMetrics RetrievalAUROC(top_k); of predictions tied across the k-th each counts in part.
SELECT
  group_id,
  greater(
    0,
    1 - SUM(positives * (negatives_above + (1 - $tie_credit) * negatives)) / NULLIF(SUM(positives) * SUM(negatives), 0)
  ) AS auc_at_k
FROM top_k_class_weights
GROUP BY group_id
