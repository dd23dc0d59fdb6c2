-- averaged_label_sets: one row per group and prediction: observed, predicted and hit classes, and its weight, also as unnormalized shares.
-- Averages are of precision, recall, F and the Jaccard index: the sum of share times ratio over the sum of shares.
-- Sampling unit: predictions.
-- Grain: group_id, prediction_id
SELECT
  group_id, unit_id, prediction_id,
  weight, -- of the prediction
  num_observed, -- number of observed classes
  num_predicted, -- number of predicted classes
  num_hits, -- number of classes that are observed and predicted
  weight AS precision_share, -- share in the average of precision, unnormalized
  weight AS recall_share, -- share in the average of recall, unnormalized
  weight AS f_share, -- share in the average of F, unnormalized
  weight AS jaccard_share -- share in the average of the Jaccard index, unnormalized
FROM label_sets
WHERE weight > 0
