-- TP: true positives: weight of positives scored at or above the threshold.
-- Full name: true positives.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: confusion matrix.
SELECT
  group_id,
  SUM(tp) AS tp
FROM confusion_counts
GROUP BY group_id
