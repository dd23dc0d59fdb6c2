-- area_derivatives: one row per group, class and label, of areas of classes against the rest: share of a pair in the average, its part in right order, and derivative of it.
-- Grain: group_id, class_id, label
SELECT
  class_concordances.group_id,
  class_concordances.class_id,
  class_concordances.label,
  CASE
    WHEN class_concordances.label = class_concordances.class_id THEN 0
    ELSE area_shares.area_share / NULLIF(area_shares.class_weight, 0) / NULLIF(area_shares.other_weight, 0)
  END AS pair_share, -- of a pair with one of the class; 0 of the class
  area_shares.area_share * area_shares.area
    / NULLIF(
      CASE WHEN class_concordances.label = class_concordances.class_id THEN area_shares.class_weight ELSE area_shares.other_weight END, 0
    ) AS mean_share, -- mean share of pairs in right order
  CASE WHEN class_concordances.label = class_concordances.class_id THEN area_shares.average_by_weight ELSE 0 END AS average_by_weight -- by its own weight in the shares
FROM class_concordances
JOIN area_shares
  ON class_concordances.group_id = area_shares.group_id AND class_concordances.class_id = area_shares.class_id
