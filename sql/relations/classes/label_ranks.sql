-- label_ranks: one row per group and prediction: its sampled unit, label, weight, and rank of the label by the scores of classes.
-- Of equal scores, that of the class which is last in the order of classes is first, as scikit-learn.
-- Validate: several_units_of_scores
-- Sampling unit: predictions.
-- Grain: group_id, prediction_id, label
SELECT
  group_id, unit_id, prediction_id, label,
  MAX(weight) AS weight, -- of the prediction
  CASE
    WHEN MAX(label_score) IS NOT NULL
      THEN 1 + SUM(CASE WHEN score > label_score OR (score = label_score AND class_id > label) THEN 1 ELSE 0 END)
  END AS label_rank -- from 1; NULL if the label has no row
FROM (
  -- one row per group, prediction and class
  SELECT
    class_scores.*,
    MAX(CASE WHEN class_id = label THEN score END) OVER (PARTITION BY group_id, prediction_id) AS label_score
  FROM class_scores
) AS compared_scores
GROUP BY group_id, unit_id, prediction_id, label
