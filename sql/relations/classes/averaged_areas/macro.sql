-- averaged_areas: one row per group, class and opponent: AUC, class weights, share 1 (macro average), and derivative of the share.
-- The opponent, label, is the other class of one against one, and the class itself of one against the rest.
-- Grain: rows of class_areas
SELECT
  group_id, class_id, label,
  class_weight, -- weight of the class's labels
  other_weight, -- weight of the labels that it is compared with
  area, -- AUC; NULL without labels of the class, or others
  1 AS share, -- share in the average, not divided by their sum
  0 AS share_by_weight -- derivative of the share by class weights
FROM class_areas
