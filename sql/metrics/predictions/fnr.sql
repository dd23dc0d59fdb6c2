-- FNR: false negative rate: share of positives that are predicted negative.
--     FNR = FN / (FN + TP)
-- Full name: false negative rate.
-- Use when: you need to know how many positives a threshold misses, for example by group.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: predictions without a positive; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn det_curve.
SELECT
  group_id,
  SUM(fn) / NULLIF(SUM(tp) + SUM(fn), 0) AS fnr
FROM confusion_counts
GROUP BY group_id
