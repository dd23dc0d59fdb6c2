-- MCC: Matthews correlation coefficient.
-- cut: default threshold: a threshold that is given, or the best one by a criterion.
-- Requires: binary labels.
-- Bounds: -1 to 1.
-- Undefined: one class only, or one predicted class only.
-- Source: Matthews 1975; scikit-learn matthews_corrcoef.
SELECT
  group_id,
  SQRT(
    SUM(tp) / NULLIF(SUM(tp) + SUM(fn), 0) * (SUM(tn) / NULLIF(SUM(tn) + SUM(fp), 0))
      * (SUM(tp) / NULLIF(SUM(tp) + SUM(fp), 0)) * (SUM(tn) / NULLIF(SUM(tn) + SUM(fn), 0))
  ) - SQRT(
    SUM(fn) / NULLIF(SUM(tp) + SUM(fn), 0) * (SUM(fp) / NULLIF(SUM(tn) + SUM(fp), 0))
      * (SUM(fp) / NULLIF(SUM(tp) + SUM(fp), 0)) * (SUM(fn) / NULLIF(SUM(tn) + SUM(fn), 0))
  ) AS mcc
FROM confusion
GROUP BY group_id
