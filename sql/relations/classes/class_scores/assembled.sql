-- class_scores: one row per group, prediction and class of multiclass_predictions: score of the class, observed class, weight, and unit.
-- Grain: many per group_id, prediction_id
SELECT
  multiclass_predictions.group_id, multiclass_predictions.prediction_id,
  CASE
    WHEN multiclass_predictions.classes IS NULL THEN list_scores.list_position - 1
    ELSE multiclass_predictions.classes[list_scores.list_position]
  END AS class_id, -- without classes the position, from 0
  CAST(list_scores.score AS DOUBLE) AS score,
  multiclass_predictions.label, multiclass_predictions.weight, multiclass_predictions.unit_id
FROM multiclass_predictions
CROSS JOIN UNNEST(multiclass_predictions.scores) WITH ORDINALITY AS list_scores(score, list_position)
