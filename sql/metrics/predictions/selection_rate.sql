-- SelectionRate: share of predictions that are positive.
--     SelectionRate = (TP + FP) / (TP + TN + FP + FN)
-- Use when: you need to know how many rows a threshold selects, for example by group or for capacity planning.
-- $threshold: number, default 0.5: the lowest score that counts as a predicted positive.
-- Requires: scores from 0 to 1 under threshold=0.5.
-- Direction: neither.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: fairlearn selection_rate.
SELECT
  group_id,
  SUM(CASE WHEN score >= $threshold THEN weight ELSE 0 END) / NULLIF(SUM(weight), 0) AS selection_rate
FROM predictions
GROUP BY group_id
