-- MCC: Matthews correlation coefficient.
--     MCC = (TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN))
-- Products of four weights may be more than a double holds: it is written in shares of the labels and of the predictions.
-- Full name: Matthews correlation coefficient.
-- Use when: classes are imbalanced and you want one number for all four cells of the confusion matrix.
-- Reading: 0 is no better than chance, and 1 has no errors. It needs good values in all four cells, also if classes are imbalanced.
-- threshold_from: default given: a given threshold, or the best one by a criterion.
-- Requires: binary labels.
-- Range: -1 to 1.
-- Interval: cells tp, fp, tn, fn
-- Undefined: one class only, or one predicted class only; under threshold_from=best also where the criterion is undefined.
-- Source: Matthews 1975; scikit-learn matthews_corrcoef.
SELECT
  group_id,
  (
    SUM(tp) / NULLIF(SUM(tp) + SUM(fn), 0) * (SUM(tn) / NULLIF(SUM(tn) + SUM(fp), 0))
      - SUM(fn) / NULLIF(SUM(tp) + SUM(fn), 0) * (SUM(fp) / NULLIF(SUM(tn) + SUM(fp), 0))
  ) * SQRT((SUM(tp) + SUM(fn)) / NULLIF(SUM(tp) + SUM(fp), 0) * ((SUM(tn) + SUM(fp)) / NULLIF(SUM(tn) + SUM(fn), 0))) AS mcc
FROM confusion_counts
GROUP BY group_id
