-- PR: one row per group and threshold: precision and recall if scores from the threshold up are predicted positive.
-- Full name: precision-recall curve.
-- Use when: you choose a threshold and positives are rare.
-- curve_spacing: default logarithmic: how points are selected.
-- Requires: binary labels.
-- Undefined: recall without positives is NULL.
-- Source: scikit-learn precision_recall_curve.
SELECT
  group_id,
  point, -- number of the point, from 1 at the highest score
  score AS threshold, -- lowest score that is predicted positive
  tp / NULLIF(total_positives, 0) AS recall,
  tp / NULLIF(tp + fp, 0) AS precision
FROM curve_points
