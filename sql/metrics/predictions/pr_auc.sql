-- PRAUC: area under the precision-recall curve, interpolated between its points.
--     PRAUC = integral of precision over recall
-- Full name: area under the precision-recall curve.
-- Use when: you compare with tools that join the points of the curve, which is too high between them. Otherwise prefer APS.
-- interpolation(): default trapezoid: how the curve is interpolated between thresholds.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: bootstrap (its curve is interpolated between thresholds that depend on all rows)
-- Tie bounds: worst to best of PRAUC(interpolation=davis_goadrich).
-- Undefined: predictions without a positive.
-- Source: Spark MLlib areaUnderPR (trapezoid); Davis & Goadrich 2006.
SELECT
  group_id,
  SUM(interpolation(positives, negatives, positives_above, negatives_above))
    / NULLIF(MAX(total_positives), 0) AS pr_auc
FROM positive_thresholds
GROUP BY group_id
