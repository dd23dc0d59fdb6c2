-- averaged_label_sets: one row per group and prediction: numbers of its observed classes, predicted ones and both together, and its shares in the averages of four metrics: its weight.
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
  weight AS precision_share, -- share in the average of precision
  weight AS recall_share, -- share in the average of recall
  weight AS f_share, -- share in the average of F
  weight AS jaccard_share -- share in the average of the Jaccard index
FROM label_sets
