-- averaged_label_sets: one row per group and class: weights of its labels, of its predictions and of both together, and its shares in the averages of four metrics: 1 of each.
-- Grain: group_id, class_id
SELECT
  group_id,
  class_id,
  num_observed, -- weight of the predictions of which the class is observed
  num_predicted, -- weight of the predictions of which the class is predicted
  num_hits, -- weight of the predictions of which it is both
  1 AS precision_share, -- share in the average of precision
  1 AS recall_share, -- share in the average of recall
  1 AS f_share, -- share in the average of F
  1 AS jaccard_share, -- share in the average of the Jaccard index
  0 AS share_by_label -- derivative of the shares by the weight of labels
FROM (
  -- one row per group and class
  SELECT
    group_id,
    class_id,
    SUM(weight * label) AS num_observed,
    SUM(weight * predicted) AS num_predicted,
    SUM(weight * label * predicted) AS num_hits
  FROM class_labels
  WHERE class_id IS NOT NULL
  GROUP BY group_id, class_id
) AS counted_labels
