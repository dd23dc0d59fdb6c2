-- area_shares: one row per group, class and compared label: weights of both, AUC, its share in the average AUC, and derivative of the average.
-- The compared label is the other class of one against one, and the class itself of one against the rest.
-- Grain: rows of averaged_areas
SELECT
  group_id, class_id, label,
  class_weight, -- weight of the class's labels
  other_weight, -- weight of the labels that it is compared with
  area, -- AUC; NULL without labels of the class, or others
  CASE WHEN area IS NULL THEN 0 ELSE share END / NULLIF(all_shares, 0) AS area_share, -- share of the AUC in the average; all add up to 1
  CASE WHEN area IS NULL THEN 0 ELSE share_by_weight END
    * (area - share_areas / NULLIF(all_shares, 0)) / NULLIF(all_shares, 0) AS average_by_weight -- derivative of the average by the share's weights
FROM (
  -- one row per group and area
  SELECT
    averaged_areas.*,
    SUM(CASE WHEN area IS NULL THEN 0 ELSE share END) OVER (PARTITION BY group_id) AS all_shares, -- sum of the shares of classes with an AUC
    SUM(share * area) OVER (PARTITION BY group_id) AS share_areas -- sum of share times AUC
  FROM averaged_areas
) AS areas_with_totals
