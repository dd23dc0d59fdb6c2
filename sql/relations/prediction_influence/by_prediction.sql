-- prediction_influence: one row per set of predictions of equal influence, with that influence and the root of the sum of their squared weights.
-- This is for predictions that were sampled independently of each other.
-- Grain: rows of influence_values
SELECT
  group_id,
  label,
  num_units,
  SQRT(weight_squares) AS influence_weight,
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positive_weight,
  CASE WHEN label = 1 THEN weight_squares ELSE 0 END AS positive_squares,
  CASE WHEN label = 1 THEN num_units ELSE 0 END AS positive_rows,
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negative_weight,
  CASE WHEN label = 1 THEN 0 ELSE weight_squares END AS negative_squares,
  CASE WHEN label = 1 THEN 0 ELSE num_units END AS negative_rows,
  auc_influence,
  aps_influence
FROM influence_values
WHERE num_units > 0
