-- ROC: true positive rate over false positive rate, from (0, 0); straight lines between its points enclose AUC.
-- spacing: default length: how points are chosen.
-- Requires: binary labels.
-- Undefined: a rate of a class that is not there is NULL.
-- Source: Fawcett 2006; scikit-learn roc_curve.
SELECT
  group_id,
  point,
  score AS threshold,
  fp / NULLIF(all_negatives, 0) AS fpr,
  tp / NULLIF(all_positives, 0) AS tpr
FROM points
UNION ALL
SELECT
  group_id,
  0 AS point,
  CAST(NULL AS DOUBLE) AS threshold,
  CAST(0 AS DOUBLE) AS fpr,
  CAST(0 AS DOUBLE) AS tpr
FROM totals
