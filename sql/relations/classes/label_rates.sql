-- label_rates: one row per group and class: its weights, precision, recall, F, Jaccard index, and unnormalized shares with derivative.
-- A prediction may have several classes.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  weight, -- weight of the predictions that have a row of the class
  num_rows, -- number of these predictions
  num_observed, -- weight of the predictions of which the class is observed
  num_predicted, -- weight of the predictions of which the class is predicted
  num_hits, -- weight of the predictions of which it is both
  num_observed + num_predicted - num_hits AS union_weight, -- weight of the predictions of which it is one or both
  $beta * $beta * num_observed + num_predicted AS f_divisor, -- divisor of F
  zero_division(num_hits / NULLIF(num_predicted, 0)) AS precision,
  zero_division(num_hits / NULLIF(num_observed, 0)) AS recall,
  zero_division(f_measure($beta, num_hits, num_observed, num_predicted)) AS f,
  zero_division(jaccard(num_hits, num_observed, num_predicted)) AS jaccard,
  precision_share, -- share in the average of precision, unnormalized
  recall_share, -- share in the average of recall, unnormalized
  f_share, -- share in the average of F, unnormalized
  jaccard_share, -- share in the average of the Jaccard index, unnormalized
  share_by_label -- derivative of the shares by num_observed
FROM averaged_label_sets
