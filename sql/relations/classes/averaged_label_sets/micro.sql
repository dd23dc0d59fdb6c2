-- averaged_label_sets: one row per group and prediction: observed, predicted and hit classes, weight, and unnormalized shares for micro averages.
-- Averages are of precision, recall, F and the Jaccard index: the sum of share times ratio over the sum of shares.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Sampling unit: predictions.
-- Grain: group_id, prediction_id
SELECT
  group_id, unit_id, prediction_id,
  weight, -- of the prediction
  num_observed, -- number of observed classes
  num_predicted, -- number of predicted classes
  num_hits, -- number of classes that are observed and predicted
  weight * num_predicted AS precision_share, -- share in the average of precision, unnormalized
  weight * num_observed AS recall_share, -- share in the average of recall, unnormalized
  weight * ($beta * $beta * num_observed + num_predicted) AS f_share, -- share in the average of F, unnormalized
  weight * (num_observed + num_predicted - num_hits) AS jaccard_share -- share in the average of the Jaccard index, unnormalized
FROM label_sets
WHERE weight > 0
