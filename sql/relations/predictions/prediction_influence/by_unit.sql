-- prediction_influence: one row per prediction of positive weight: unit, label, weight in columns of its class, and influence on AUC and APS.
-- Grain: rows of predictions_with_threshold
SELECT
  assigned_predictions.group_id,
  assigned_predictions.unit_id, -- what was sampled independently
  assigned_predictions.label,
  1 AS num_units, -- the row is one prediction
  assigned_predictions.weight AS influence_weight, -- weight of the prediction
  CASE WHEN assigned_predictions.label = 1 THEN assigned_predictions.weight ELSE 0 END AS positive_weight, -- weight, 0 of a negative
  CASE
    WHEN assigned_predictions.label = 1 THEN assigned_predictions.weight * assigned_predictions.weight
    ELSE 0
  END AS positive_squares, -- square of the weight, 0 of a negative
  CASE WHEN assigned_predictions.label = 1 THEN 1 ELSE 0 END AS positive_rows, -- 1, 0 of a negative
  CASE WHEN assigned_predictions.label = 1 THEN 0 ELSE assigned_predictions.weight END AS negative_weight, -- weight, 0 of a positive
  CASE
    WHEN assigned_predictions.label = 1 THEN 0
    ELSE assigned_predictions.weight * assigned_predictions.weight
  END AS negative_squares, -- square of the weight, 0 of a positive
  CASE WHEN assigned_predictions.label = 1 THEN 0 ELSE 1 END AS negative_rows, -- 1, 0 of a positive
  influence_values.auc_influence, -- derivative of AUC by the weight of a prediction
  influence_values.aps_influence -- derivative of APS by the weight of a prediction
FROM (
  -- one row per prediction
  SELECT
    predictions_with_threshold.*,
    COALESCE(threshold_score, 0) AS threshold,
    CASE WHEN threshold_score IS NULL THEN 0 ELSE 1 END AS has_threshold,
    CASE
      WHEN label = 1 THEN 0
      WHEN score = threshold_score THEN 1
      ELSE 2
    END AS segment_part -- 0 positives, 1 negatives at it, 2 negatives below it
  FROM predictions_with_threshold
) AS assigned_predictions
JOIN influence_values
  ON influence_values.group_id = assigned_predictions.group_id
  AND influence_values.has_threshold = assigned_predictions.has_threshold
  AND influence_values.threshold = assigned_predictions.threshold
  AND influence_values.segment_part = assigned_predictions.segment_part
WHERE assigned_predictions.weight > 0
