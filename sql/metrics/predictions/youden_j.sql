-- YoudenJ: Youden's J, recall + specificity - 1.
--     J = Recall + Specificity - 1
-- Full name: Youden's J.
-- Use when: you compare diagnostic tests, for which recall and specificity count the same.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: -1 to 1.
-- Interval: cells tp, fp, tn, fn
-- Undefined: predictions of one class only; under threshold_from=best also where the criterion is undefined.
-- Source: Youden 1950.
SELECT
  group_id,
  SUM(tp) / NULLIF(SUM(tp) + SUM(fn), 0) + SUM(tn) / NULLIF(SUM(tn) + SUM(fp), 0) - 1 AS youden_j
FROM confusion_counts
GROUP BY group_id
