-- Lift: lift chart: how many times as many positives the top share of the weight holds as a random one.
-- spacing: default length: how points are chosen.
-- Requires: binary labels.
-- Undefined: without positives lift is NULL.
-- Source: the lift chart.
SELECT
  group_id,
  point,
  score AS threshold,
  (tp + fp) / NULLIF(all_positives + all_negatives, 0) AS fraction,
  tp / NULLIF(tp + fp, 0) / NULLIF(all_positives / NULLIF(all_positives + all_negatives, 0), 0) AS lift
FROM points
