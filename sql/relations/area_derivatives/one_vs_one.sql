-- area_derivatives: one row per group, class and label, of areas of pairs of classes: share of a pair in the average, its part in right order, and derivative of it.
-- Grain: group_id, class_id, label
SELECT
  group_id,
  class_id,
  label,
  area_share / NULLIF(class_weight, 0) / NULLIF(other_weight, 0) AS pair_share, -- of a pair with one of the class; 0 of the class
  area_share * area / NULLIF(other_weight, 0) AS mean_share, -- mean share of pairs in right order
  average_by_weight -- by its own weight in the shares
FROM area_shares
WHERE label <> class_id
UNION ALL
SELECT
  group_id,
  class_id,
  class_id AS label,
  0 AS pair_share,
  SUM(area_share * area / NULLIF(class_weight, 0)) AS mean_share,
  SUM(average_by_weight) AS average_by_weight
FROM area_shares
GROUP BY group_id, class_id
