-- tied_predictions: one row per group, score and class: number of predictions, powers of their weights, and label sum.
-- Grain: group_id, score, label
SELECT
  group_id, score,
  CASE WHEN label = 1 THEN 1 ELSE 0 END AS label, -- 1 of positives, else 0
  SUM(CASE WHEN weight > 0 THEN 1 ELSE 0 END) AS num_units, -- predictions of positive weight
  even_units(weight) AS even_units, -- units of one weight with the same sums of powers
  SUM(weight) AS weight,
  SUM(weight * weight) AS weight_squares, -- sum of their squared weights
  SUM(weight * label) AS label_sum, -- sum of weight times label
  COUNT(*) AS num_rows -- predictions of this score and class
FROM predictions
GROUP BY group_id, score, CASE WHEN label = 1 THEN 1 ELSE 0 END
