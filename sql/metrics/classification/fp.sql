-- FP: false positives: weight of negatives scored at or above the threshold.
-- cut: default threshold: a threshold that is given, or the best one by a criterion.
-- Requires: binary labels.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: confusion matrix.
SELECT
  group_id,
  SUM(fp) AS fp
FROM confusion
GROUP BY group_id
