-- Lift: lift chart: how many times as many positives the top share of the weight holds as a random one.
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: without positives lift is NULL.
-- Source: the lift chart.
SELECT
  group_id,
  point,
  score AS threshold,
  (tp + fp) / NULLIF(total_positives + total_negatives, 0) AS fraction,
  tp / NULLIF(tp + fp, 0) / NULLIF(total_positives / NULLIF(total_positives + total_negatives, 0), 0) AS lift
FROM curve_points
