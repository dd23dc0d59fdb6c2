-- NPV: negative predictive value: share of true negatives among predicted negatives.
--     NPV = TN / (TN + FN)
-- Full name: negative predictive value.
-- Use when: decisions follow from a negative prediction, such as no further test.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: no predicted negative; under threshold_from=best also where the criterion is undefined.
-- Source: Altman & Bland 1994.
SELECT
  group_id,
  SUM(tn) / NULLIF(SUM(tn) + SUM(fn), 0) AS npv
FROM confusion_counts
GROUP BY group_id
