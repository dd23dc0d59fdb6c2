-- HammingLoss: share of all pairs of prediction and class that are wrong.
--     HammingLoss = wrong pairs of prediction and class / pairs of prediction and class
-- Use when: every decision on a class counts the same, such as tags that users correct one by one. If classes are rare, it is low whatever you predict.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, all of weight 0, or no classes.
-- Source: Schapire & Singer 2000; scikit-learn hamming_loss.
SELECT
  group_id,
  SUM(weight * (num_observed + num_predicted - 2 * num_hits) / NULLIF(num_classes, 0)) / NULLIF(SUM(weight), 0) AS hamming_loss
FROM label_sets
GROUP BY group_id
