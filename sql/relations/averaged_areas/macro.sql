-- averaged_areas: one row per group and area under the ROC curve of a class: weights, area, a share of 1 in the macro average, and its derivative.
-- Grain: rows of class_areas
SELECT
  group_id,
  class_id,
  label,
  class_weight, -- weight of the class's labels
  other_weight, -- weight of the labels that it is compared with
  area, -- NULL of a class that has no labels
  1 AS share, -- not divided by the sum of all
  0 AS share_by_weight -- derivative by the weights that the share is of
FROM class_areas
