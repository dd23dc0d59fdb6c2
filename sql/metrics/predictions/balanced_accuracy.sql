-- BalancedAccuracy: mean of recall and specificity.
--     BalancedAccuracy = (Recall + Specificity) / 2
-- Use when: classes are imbalanced and you want both to count the same.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: cells tp, fp, tn, fn
-- Undefined: predictions of one class only; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn balanced_accuracy_score.
SELECT
  group_id,
  (SUM(tp) / NULLIF(SUM(tp) + SUM(fn), 0) + SUM(tn) / NULLIF(SUM(tn) + SUM(fp), 0)) / 2 AS balanced_accuracy
FROM confusion_counts
GROUP BY group_id
