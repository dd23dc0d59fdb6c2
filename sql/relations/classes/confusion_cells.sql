-- confusion_cells: one row per group, observed and predicted class that occur together: number and powers of weights of predictions.
-- Grain: group_id, label, predicted
SELECT
  group_id, label, predicted,
  SUM(CASE WHEN weight > 0 THEN 1 ELSE 0 END) AS num_predictions, -- predictions of weight 0 do not count
  SUM(weight) AS weight,
  SUM(weight * weight) AS weight_squares, -- sum of their squared weights
  even_units(weight) AS even_predictions -- units of one weight with the same sums of powers
FROM classified
GROUP BY group_id, label, predicted
