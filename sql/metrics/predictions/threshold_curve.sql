-- Threshold: one row per group and threshold: the confusion matrix if scores from the threshold up are predicted positive.
-- Full name: confusion matrix of every threshold.
-- Use when: you choose a threshold by the counts of right and wrong decisions.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: a rate whose denominator is 0 is NULL.
-- Source: scikit-learn confusion_matrix_at_thresholds; Splink's truth space table.
SELECT
  group_id,
  point, -- number of the point, from 1 at the highest score
  score AS threshold, -- lowest score that is predicted positive
  tp, -- weight of true positives
  fp, -- weight of false positives
  tn, -- weight of true negatives
  fn, -- weight of false negatives
  tp / NULLIF(tp + fp, 0) AS precision,
  tp / NULLIF(total_positives, 0) AS recall,
  tn / NULLIF(total_negatives, 0) AS specificity,
  2 * tp / NULLIF(2 * tp + fp + fn, 0) AS f1,
  (tp + tn) / NULLIF(total_positives + total_negatives, 0) AS accuracy
FROM curve_points
