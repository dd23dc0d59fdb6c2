-- ThresholdUsed: the threshold that was used: the one given, or the best.
-- Use when: the threshold is chosen from the data, and you want to deploy it.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Interval: bootstrap (it is a score, given or selected)
-- Direction: neither.
-- Range: -inf to inf.
-- Undefined: predictions without a positive, where the best is searched.
-- Source: sqlrank.
SELECT
  group_id,
  MAX(threshold) AS threshold_used -- of its one row
FROM confusion_counts
GROUP BY group_id
