-- several_units_of_labels: one row per group and prediction with class labels of several sampling units.
-- Grain: group_id, prediction_id
SELECT
  group_id, prediction_id,
  COUNT(DISTINCT unit_id) AS units -- a prediction belongs to one unit. Name a column that is the same for all labels of a prediction in unit
FROM class_labels
GROUP BY group_id, prediction_id
HAVING COUNT(DISTINCT unit_id) > 1
