-- area_derivatives: one row per group, class and label, of AUCs of pairs of classes: share of a pair, mean share of pairs, and derivative.
-- The share is that of a pair of predictions, one of the class and one of the label, in the average AUC. The mean share is what the pairs in
-- right order add to the average, per prediction of the label. The derivative is by the weight of the label, through the shares of areas.
-- Grain: group_id, class_id, label
SELECT
  group_id, class_id, label,
  area_share / NULLIF(class_weight, 0) / NULLIF(other_weight, 0) AS pair_share, -- share of a pair in the average; 0 if label = class
  area_share * area / NULLIF(other_weight, 0) AS mean_share, -- share of its pairs in right order, per prediction
  average_by_weight -- derivative of the average, through the shares
FROM area_shares
WHERE label <> class_id
UNION ALL
SELECT
  group_id, class_id,
  class_id AS label,
  0 AS pair_share,
  SUM(area_share * area / NULLIF(class_weight, 0)) AS mean_share,
  SUM(average_by_weight) AS average_by_weight
FROM area_shares
GROUP BY group_id, class_id
