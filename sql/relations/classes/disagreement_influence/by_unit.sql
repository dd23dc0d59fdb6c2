-- disagreement_influence: one row per prediction of positive weight: sampled unit, weight if right or if wrong, and influence on weighted kappa.
-- Columns of positives are of right predictions, whose class is the label, and columns of negatives of wrong ones.
-- Grain: rows of classified
SELECT
  classified.group_id,
  classified.unit_id, -- what was sampled independently
  classified.label,
  1 AS num_units, -- the row is one prediction
  classified.weight AS influence_weight, -- weight of the prediction
  CASE WHEN classified.label = classified.predicted THEN classified.weight ELSE 0 END AS positive_weight, -- weight, 0 if it is wrong
  CASE WHEN classified.label = classified.predicted THEN 0 ELSE classified.weight END AS negative_weight, -- weight, 0 if it is right
  pair_influence.weighted_kappa_influence -- derivative by the weight of a prediction
FROM classified
JOIN pair_influence
  ON classified.group_id = pair_influence.group_id AND classified.label = pair_influence.label AND classified.predicted = pair_influence.predicted
WHERE classified.weight > 0
