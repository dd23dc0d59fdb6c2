-- Specificity: share of negatives that are predicted so, the true negative rate.
--     Specificity = TN / (TN + FP)
-- Use when: you need to know how many negatives the threshold leaves alone, as in medical tests.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: predictions without a negative; under threshold_from=best also where the criterion is undefined.
-- Source: Yerushalmy 1947.
SELECT
  group_id,
  SUM(tn) / NULLIF(SUM(tn) + SUM(fp), 0) AS specificity
FROM confusion_counts
GROUP BY group_id
