-- prediction_influence: one row per group and set of predictions of equal influence: label, number, weights, and influence on AUC and APS.
-- Grain: rows of influence_values
SELECT
  group_id, label,
  num_units, -- number of predictions in the set
  SQRT(weight_squares) AS influence_weight, -- root of the sum of their squared weights
  CASE WHEN label = 1 THEN weight ELSE 0 END AS positive_weight, -- weight of the set, 0 of negatives
  CASE WHEN label = 1 THEN weight_squares ELSE 0 END AS positive_squares, -- sum of their squared weights, 0 of negatives
  CASE WHEN label = 1 THEN num_units ELSE 0 END AS positive_rows, -- predictions in the set if positives, else 0
  CASE WHEN label = 1 THEN 0 ELSE weight END AS negative_weight, -- weight of the set, 0 of positives
  CASE WHEN label = 1 THEN 0 ELSE weight_squares END AS negative_squares, -- sum of their squared weights, 0 of positives
  CASE WHEN label = 1 THEN 0 ELSE num_units END AS negative_rows, -- predictions in the set if negatives, else 0
  auc_influence, -- derivative of AUC by the weight of a prediction
  aps_influence -- derivative of APS by the weight of a prediction
FROM influence_values
WHERE num_units > 0
