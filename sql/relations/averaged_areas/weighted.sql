-- averaged_areas: one row per group and area under the ROC curve of a class: weights, area, the weight of its labels as share in the weighted average, and its derivative.
-- Grain: rows of class_areas
SELECT
  group_id,
  class_id,
  label,
  class_weight, -- weight of the class's labels
  other_weight, -- weight of the labels that it is compared with
  area, -- NULL of a class that has no labels
  pair_weight AS share, -- not divided by the sum of all
  1 AS share_by_weight -- derivative by the weights that the share is of
FROM class_areas
