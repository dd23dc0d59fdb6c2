-- disagreement_influence: one row per group, observed and predicted class that occur together: weights, and influence on weighted kappa.
-- Columns of positives are of right predictions, whose class is the label, and columns of negatives of wrong ones.
-- Grain: group_id, label, predicted
SELECT
  group_id, label, predicted,
  num_predictions AS num_units, -- predictions of the row
  even_predictions AS even_units, -- units of one weight with the same sums of powers
  SQRT(weight_squares) AS influence_weight, -- root of the sum of their squared weights
  CASE WHEN label = predicted THEN weight ELSE 0 END AS positive_weight, -- weight of predictions, 0 if they are wrong
  CASE WHEN label = predicted THEN weight_squares ELSE 0 END AS positive_squares, -- sum of their squared weights, 0 if they are wrong
  CASE WHEN label = predicted THEN 0 ELSE weight END AS negative_weight, -- weight of predictions, 0 if they are right
  CASE WHEN label = predicted THEN 0 ELSE weight_squares END AS negative_squares, -- sum of their squared weights, 0 if they are right
  weighted_kappa_influence -- derivative by the weight of a prediction
FROM pair_influence
WHERE num_predictions > 0
