-- MCC: Matthews correlation coefficient.
-- cut: default threshold: a threshold that is given, or the best one by a criterion.
-- Requires: binary labels.
-- Undefined: one class only, or one predicted class only.
-- Source: Matthews 1975; scikit-learn matthews_corrcoef.
SELECT
  list_id,
  (SUM(tp) * SUM(tn) - SUM(fp) * SUM(fn))
    / NULLIF(
      SQRT(SUM(tp) + SUM(fp)) * SQRT(SUM(tp) + SUM(fn)) * SQRT(SUM(tn) + SUM(fp)) * SQRT(SUM(tn) + SUM(fn)),
      0
    ) AS mcc
FROM confusion
GROUP BY list_id
