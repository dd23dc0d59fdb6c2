-- scored_labels: one row per group and prediction: its sampled unit, label, weight, score of the label, and sums of scores of classes.
-- A class without a row has the score 0.
-- Validate: several_units_of_scores
-- Sampling unit: predictions.
-- Grain: group_id, prediction_id, label
SELECT
  group_id, unit_id, prediction_id, label,
  MAX(weight) AS weight, -- of the prediction
  SUM(CASE WHEN class_id = label THEN score ELSE 0 END) AS label_score, -- 0 if the label has no row
  SUM(score * score) AS score_squares, -- sum over all classes
  SUM(score) AS score_sum, -- 1 for probabilities
  SUM(CASE WHEN class_id = label THEN 1 ELSE 0 END) AS label_rows -- 0 if no class of the prediction is its label
FROM class_scores
GROUP BY group_id, unit_id, prediction_id, label
