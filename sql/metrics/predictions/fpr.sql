-- FPR: false positive rate: share of negatives that are predicted positive.
--     FPR = FP / (FP + TN)
-- Full name: false positive rate.
-- Use when: you need to know how many false alarms a threshold raises among the negatives.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: predictions without a negative; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn confusion_matrix_at_thresholds.
SELECT
  group_id,
  SUM(fp) / NULLIF(SUM(tn) + SUM(fp), 0) AS fpr
FROM confusion_counts
GROUP BY group_id
