-- Gain: one row per group and point of the cumulative gains chart, from (0, 0): share of the positives in the top share of weight.
-- Full name: cumulative gains curve.
-- Use when: you choose how many rows to act on, and want to see how many positives each choice reaches.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: a share of positives that are not there is NULL.
-- Source: the cumulative gains chart.
SELECT
  group_id, point,
  score AS threshold, -- lowest score of the top share; NULL at (0, 0)
  (tp + fp) / NULLIF(total_positives + total_negatives, 0) AS fraction, -- share of the weight that is at or above the threshold
  tp / NULLIF(total_positives, 0) AS gain -- share of the positives that is at or above it
FROM curve_points
UNION ALL
SELECT
  group_id,
  0 AS point,
  CAST(NULL AS DOUBLE) AS threshold,
  0 / NULLIF(total_positives + total_negatives, 0) AS fraction,
  0 / NULLIF(total_positives, 0) AS gain
FROM group_class_totals
