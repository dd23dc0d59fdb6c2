-- FP: false positives: weight of negatives scored at or above the threshold.
-- Full name: false positives.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: confusion matrix.
SELECT
  group_id,
  SUM(fp) AS fp
FROM confusion_counts
GROUP BY group_id
