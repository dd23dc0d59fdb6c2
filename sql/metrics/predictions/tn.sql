-- TN: true negatives: weight of negatives scored below the threshold.
-- Full name: true negatives.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: confusion matrix.
SELECT
  group_id,
  SUM(tn) AS tn
FROM confusion_counts
GROUP BY group_id
