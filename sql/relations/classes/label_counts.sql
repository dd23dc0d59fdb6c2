-- label_counts: one row per group and class of a classifier with several labels: weight of its rows, and how much is observed, predicted and hit.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  SUM(weight) AS weight, -- of the predictions that have a row of the class
  SUM(CASE WHEN weight > 0 THEN 1 ELSE 0 END) AS num_rows, -- number of these predictions
  SUM(weight * label) AS num_observed, -- weight of the predictions of which the class is observed
  SUM(weight * predicted) AS num_predicted, -- weight of the predictions of which the class is predicted
  SUM(weight * label * predicted) AS num_hits -- weight of the predictions of which it is both
FROM class_labels
WHERE class_id IS NOT NULL
GROUP BY group_id, class_id
