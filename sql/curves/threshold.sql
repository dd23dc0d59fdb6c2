-- Threshold: what predicting positives from each threshold up gives: the confusion matrix and the rates that follow.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: a rate of what is not there is NULL.
-- Source: scikit-learn confusion_matrix_at_thresholds; Splink's truth space table.
SELECT
  group_id,
  point,
  score AS threshold,
  tp,
  fp,
  tn,
  fn,
  tp / NULLIF(tp + fp, 0) AS precision,
  tp / NULLIF(total_positives, 0) AS recall,
  tn / NULLIF(total_negatives, 0) AS specificity,
  2 * tp / NULLIF(2 * tp + fp + fn, 0) AS f1,
  (tp + tn) / NULLIF(total_positives + total_negatives, 0) AS accuracy
FROM curve_points
