-- area_shares: one row per group and area under the ROC curve of a class: weights, the area, its share in the average, and the derivative of the average by the weights of the share.
-- Grain: rows of averaged_areas
SELECT
  group_id,
  class_id,
  label,
  class_weight, -- weight of the class's labels
  other_weight, -- weight of the labels that it is compared with
  area, -- NULL of a class that has no labels
  CASE WHEN area IS NULL THEN 0 ELSE share END / NULLIF(all_shares, 0) AS area_share, -- all shares add up to 1
  CASE WHEN area IS NULL THEN 0 ELSE share_by_weight END
    * (area - share_areas / NULLIF(all_shares, 0)) / NULLIF(all_shares, 0) AS average_by_weight -- derivative by the weights of the share
FROM (
  -- one row per group and area
  SELECT
    group_id,
    class_id,
    label,
    class_weight,
    other_weight,
    area,
    share,
    share_by_weight,
    SUM(CASE WHEN area IS NULL THEN 0 ELSE share END) OVER (PARTITION BY group_id) AS all_shares,
    SUM(share * area) OVER (PARTITION BY group_id) AS share_areas
  FROM averaged_areas
) AS areas_with_totals
