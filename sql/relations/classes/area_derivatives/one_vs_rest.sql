-- area_derivatives: one row per group, class and label, of AUCs of classes against the rest: share of a pair, mean share of pairs, and derivative.
-- The share is that of a pair of predictions, one of the class and one of the label, in the average AUC. The mean share is what the pairs in
-- right order add to the average, per prediction of the label. The derivative is by the weight of the label, through the shares of areas.
-- Grain: group_id, class_id, label
SELECT
  class_concordances.group_id, class_concordances.class_id, class_concordances.label,
  CASE
    WHEN class_concordances.label = class_concordances.class_id THEN 0
    ELSE area_shares.area_share / NULLIF(area_shares.class_weight, 0) / NULLIF(area_shares.other_weight, 0)
  END AS pair_share, -- share of a pair in the average; 0 if label = class
  area_shares.area_share * area_shares.area
    / NULLIF(
      CASE WHEN class_concordances.label = class_concordances.class_id THEN area_shares.class_weight ELSE area_shares.other_weight END, 0
    ) AS mean_share, -- share of its pairs in right order, per prediction
  CASE WHEN class_concordances.label = class_concordances.class_id THEN area_shares.average_by_weight ELSE 0 END AS average_by_weight -- derivative of the average, through the shares
FROM class_concordances
JOIN area_shares
  ON class_concordances.group_id = area_shares.group_id AND class_concordances.class_id = area_shares.class_id
