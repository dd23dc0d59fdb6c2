-- Gain: cumulative gains chart: the share of positives among the top share of the weight, from (0, 0).
-- curve_spacing: default equal: how points are selected.
-- Requires: binary labels.
-- Undefined: a share of positives that are not there is NULL.
-- Source: the cumulative gains chart.
SELECT
  group_id,
  point,
  score AS threshold,
  (tp + fp) / NULLIF(total_positives + total_negatives, 0) AS fraction,
  tp / NULLIF(total_positives, 0) AS gain
FROM curve_points
UNION ALL
SELECT
  group_id,
  0 AS point,
  CAST(NULL AS DOUBLE) AS threshold,
  CAST(0 AS DOUBLE) AS fraction,
  CAST(0 AS DOUBLE) AS gain
FROM group_sizes
