-- prediction_influence: one row per group, score and class: number of predictions, weights in columns of their class, and influence on AUC and APS.
-- Grain: rows of tied_predictions
SELECT
  tied_predictions.group_id, tied_predictions.label, tied_predictions.num_units,
  tied_predictions.even_units, -- units of one weight with the same sums of powers
  SQRT(tied_predictions.weight_squares) AS influence_weight, -- root of the sum of squared weights
  CASE WHEN tied_predictions.label = 1 THEN tied_predictions.weight ELSE 0 END AS positive_weight, -- weight of positives
  CASE
    WHEN tied_predictions.label = 1 THEN tied_predictions.weight_squares
    ELSE 0
  END AS positive_squares, -- sum of their squared weights
  CASE WHEN tied_predictions.label = 1 THEN tied_predictions.num_units ELSE 0 END AS positive_rows, -- number of positives
  CASE WHEN tied_predictions.label = 1 THEN 0 ELSE tied_predictions.weight END AS negative_weight, -- weight of negatives
  CASE
    WHEN tied_predictions.label = 1 THEN 0
    ELSE tied_predictions.weight_squares
  END AS negative_squares, -- sum of their squared weights
  CASE WHEN tied_predictions.label = 1 THEN 0 ELSE tied_predictions.num_units END AS negative_rows, -- number of negatives
  influence_values.auc_influence, -- derivative of AUC by the weight of a prediction
  influence_values.aps_influence -- derivative of APS by the weight of a prediction
FROM tied_predictions
JOIN influence_values
  ON influence_values.group_id = tied_predictions.group_id
  AND influence_values.threshold = tied_predictions.score
  AND influence_values.label = tied_predictions.label
WHERE tied_predictions.num_units > 0
