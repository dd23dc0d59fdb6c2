-- Recall: share of positives that are predicted so, the true positive rate.
--     Recall = TP / (TP + FN)
-- Use when: missed positives are expensive, as in screening. Read it together with Precision.
-- Reading: 0.8 means that 8 of 10 positives are found. It falls as the threshold rises.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Undefined: predictions without a positive; under threshold_from=best also where the criterion is undefined.
-- Source: scikit-learn recall_score.
SELECT
  group_id,
  SUM(tp) / NULLIF(SUM(tp) + SUM(fn), 0) AS recall
FROM confusion_counts
GROUP BY group_id
