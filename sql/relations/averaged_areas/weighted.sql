-- averaged_areas: one row per group and area under the ROC curve of a class: the area, and its share in the average: the weight of the labels.
-- Grain: rows of class_areas
SELECT
  group_id,
  area, -- NULL of a class that has no labels
  pair_weight AS share -- not divided by the sum of all
FROM class_areas
