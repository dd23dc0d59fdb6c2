-- BaseRate: share of positives among the rows.
--     BaseRate = (TP + FN) / (TP + TN + FP + FN)
-- Use when: you read metrics that depend on the share of positives, such as Precision, APS and Lift.
-- Requires: binary labels.
-- Direction: neither.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: prevalence.
SELECT
  group_id,
  SUM(weight * label) / NULLIF(SUM(weight), 0) AS base_rate
FROM predictions
GROUP BY group_id
