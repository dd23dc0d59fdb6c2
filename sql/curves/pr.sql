-- PR: precision over recall, a point per threshold; at every point scores from threshold up are predicted positive.
-- curve_spacing: default logarithmic: how points are selected.
-- Requires: binary labels.
-- Undefined: recall without positives is NULL.
-- Source: scikit-learn precision_recall_curve.
SELECT
  group_id,
  point,
  score AS threshold,
  tp / NULLIF(total_positives, 0) AS recall,
  tp / NULLIF(tp + fp, 0) AS precision
FROM curve_points
