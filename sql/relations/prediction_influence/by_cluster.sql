-- prediction_influence: one row per prediction of positive weight, with its sampled unit, its influence per weight of 1, and its weight.
-- Grain: rows of predictions_with_threshold
SELECT
  t.group_id,
  t.unit_id,
  t.label,
  1 AS num_units,
  t.weight AS influence_weight,
  CASE WHEN t.label = 1 THEN t.weight ELSE 0 END AS positive_weight,
  CASE WHEN t.label = 1 THEN t.weight * t.weight ELSE 0 END AS positive_squares,
  CASE WHEN t.label = 1 THEN 1 ELSE 0 END AS positive_rows,
  CASE WHEN t.label = 1 THEN 0 ELSE t.weight END AS negative_weight,
  CASE WHEN t.label = 1 THEN 0 ELSE t.weight * t.weight END AS negative_squares,
  CASE WHEN t.label = 1 THEN 0 ELSE 1 END AS negative_rows,
  p.auc_influence,
  p.aps_influence
FROM (
  SELECT
    group_id,
    unit_id,
    label,
    weight,
    COALESCE(threshold_score, 0) AS threshold,
    CASE WHEN threshold_score IS NULL THEN 0 ELSE 1 END AS has_threshold,
    CASE WHEN label = 1 THEN 0 WHEN score = threshold_score THEN 1 ELSE 2 END AS segment_part
  FROM predictions_with_threshold
) AS t
JOIN influence_values AS p ON p.group_id = t.group_id AND p.has_threshold = t.has_threshold AND p.threshold = t.threshold AND p.segment_part = t.segment_part
WHERE t.weight > 0
