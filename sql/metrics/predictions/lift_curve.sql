-- Lift: one row per group and point of the lift chart: share of positives in the top share of the weight over that in all.
-- Full name: lift curve.
-- Use when: you choose how many rows to act on, and want to compare that with a random choice.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: without positives lift is NULL.
-- Source: the lift chart.
SELECT
  group_id, point,
  score AS threshold, -- lowest score of the top share
  (tp + fp) / NULLIF(total_positives + total_negatives, 0) AS fraction, -- share of the weight that is at or above the threshold
  tp / NULLIF(tp + fp, 0)
    / NULLIF(total_positives / NULLIF(total_positives + total_negatives, 0), 0) AS lift -- share of positives there over that of the group
FROM curve_points
