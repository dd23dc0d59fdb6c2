-- label_sets: one row per group and prediction: unit, weight, numbers of its observed, predicted and hit classes, and of all classes of the group.
-- Validate: several_units_of_labels
-- Sampling unit: predictions.
-- Grain: group_id, prediction_id
SELECT
  counted_sets.group_id, counted_sets.unit_id, counted_sets.prediction_id,
  counted_sets.weight, -- of the prediction
  counted_sets.num_observed, -- number of observed classes
  counted_sets.num_predicted, -- number of predicted classes
  counted_sets.num_hits, -- number of classes that are observed and predicted
  group_classes.num_classes -- number of classes in the rows of the group
FROM (
  -- one row per group and prediction
  SELECT
    group_id, unit_id, prediction_id,
    MAX(weight) AS weight,
    SUM(label) AS num_observed,
    SUM(predicted) AS num_predicted,
    SUM(label * predicted) AS num_hits
  FROM class_labels
  GROUP BY group_id, unit_id, prediction_id
) AS counted_sets
LEFT JOIN (
  -- one row per group
  SELECT
    group_id,
    COUNT(class_id) AS num_classes
  FROM (
    -- one row per group and class
    SELECT group_id, class_id
    FROM class_labels
    GROUP BY group_id, class_id
  ) AS named_classes
  GROUP BY group_id
) AS group_classes
  ON counted_sets.group_id = group_classes.group_id
