-- Precision: share of true positives among predicted positives.
--     Precision = TP / (TP + FP)
-- Use when: false positives are expensive, as in alerts that a person checks. Read it together with Recall.
-- Reading: 0.8 means that 8 of 10 predicted positives are positive. It falls with the share of positives, and usually rises with the threshold.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: no predicted positive; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn precision_score.
SELECT
  group_id,
  SUM(tp) / NULLIF(SUM(tp) + SUM(fp), 0) AS precision
FROM confusion_counts
GROUP BY group_id
