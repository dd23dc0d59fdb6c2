-- ROC: true positive rate over false positive rate, from (0, 0); straight lines between its points enclose AUC.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: a rate of a class that is not there is NULL.
-- Source: Fawcett 2006; scikit-learn roc_curve.
SELECT
  group_id,
  point,
  score AS threshold,
  fp / NULLIF(total_negatives, 0) AS fpr,
  tp / NULLIF(total_positives, 0) AS tpr
FROM curve_points
UNION ALL
SELECT
  group_id,
  0 AS point,
  CAST(NULL AS DOUBLE) AS threshold,
  CAST(0 AS DOUBLE) AS fpr,
  CAST(0 AS DOUBLE) AS tpr
FROM group_sizes
