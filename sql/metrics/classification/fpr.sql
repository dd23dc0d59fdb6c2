-- FPR: false positive rate: share of negatives that are predicted positive.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: predictions without a negative.
-- Source: scikit-learn confusion_matrix_at_thresholds.
-- Direction: lower.
SELECT
  group_id,
  SUM(fp) / NULLIF(SUM(tn) + SUM(fp), 0) AS fpr
FROM confusion_counts
GROUP BY group_id
