-- Threshold: what predicting positives from each threshold up gives: the confusion matrix and the rates that follow.
-- spacing: default length: how points are chosen.
-- Requires: binary labels.
-- Undefined: a rate of what is not there is NULL.
-- Source: scikit-learn confusion_matrix_at_thresholds; Splink's truth space table.
SELECT
  group_id,
  point,
  score AS threshold,
  tp,
  fp,
  all_negatives - fp AS tn,
  all_positives - tp AS fn,
  tp / NULLIF(tp + fp, 0) AS precision,
  tp / NULLIF(all_positives, 0) AS recall,
  (all_negatives - fp) / NULLIF(all_negatives, 0) AS specificity,
  2 * tp / NULLIF(tp + fp + all_positives, 0) AS f1,
  (tp + all_negatives - fp) / NULLIF(all_positives + all_negatives, 0) AS accuracy
FROM points
