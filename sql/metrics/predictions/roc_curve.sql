-- ROC: one row per group and threshold: true and false positive rate, from (0, 0); straight lines between them enclose AUC.
-- Full name: receiver operating characteristic.
-- Use when: you choose a threshold by true and false positive rates, or want to see where two models differ.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: a rate of a class that is not there is NULL.
-- Source: Fawcett 2006; scikit-learn roc_curve.
SELECT
  group_id,
  point, -- number of the point, 0 at (0, 0)
  score AS threshold, -- lowest score predicted positive; NULL at (0, 0)
  fp / NULLIF(total_negatives, 0) AS fpr, -- false positive rate
  tp / NULLIF(total_positives, 0) AS tpr -- true positive rate
FROM curve_points
UNION ALL
SELECT
  group_id,
  0 AS point,
  CAST(NULL AS DOUBLE) AS threshold,
  0 / NULLIF(total_negatives, 0) AS fpr,
  0 / NULLIF(total_positives, 0) AS tpr
FROM group_class_totals
