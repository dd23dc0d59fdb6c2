-- averaged_label_sets: one row per group and class: its observed, predicted and hit weight, unnormalized shares of 1 (macro), and their derivative.
-- Averages are of precision, recall, F and the Jaccard index: the sum of share times ratio over the sum of shares.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  weight, -- weight of the predictions that have a row of the class
  num_rows, -- number of these predictions
  num_observed, -- weight of the predictions of which the class is observed
  num_predicted, -- weight of the predictions of which the class is predicted
  num_hits, -- weight of the predictions of which it is both
  1 AS precision_share, -- share in the average of precision, unnormalized
  1 AS recall_share, -- share in the average of recall, unnormalized
  1 AS f_share, -- share in the average of F, unnormalized
  1 AS jaccard_share, -- share in the average of the Jaccard index, unnormalized
  0 AS share_by_label -- derivative of the shares by num_observed
FROM label_counts
