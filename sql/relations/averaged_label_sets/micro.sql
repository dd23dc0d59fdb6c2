-- averaged_label_sets: one row per group and prediction: numbers of its observed classes, predicted ones and both together, and its shares in the averages of four metrics, as in all counts.
-- $beta: number above 0 to 10000, default 1: how many times recall counts as much as precision.
-- Sampling unit: predictions.
-- Grain: group_id, prediction_id
SELECT
  group_id,
  unit_id,
  prediction_id,
  weight, -- of the prediction
  num_observed, -- number of observed classes
  num_predicted, -- number of predicted classes
  num_hits, -- number of classes that are observed and predicted
  weight * num_predicted AS precision_share, -- share in the average of precision
  weight * num_observed AS recall_share, -- share in the average of recall
  weight * ($beta * $beta * num_observed + num_predicted) AS f_share, -- share in the average of F
  weight * (num_observed + num_predicted - num_hits) AS jaccard_share -- share in the average of the Jaccard index
FROM label_sets
