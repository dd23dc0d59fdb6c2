-- averaged_areas: one row per group and area under the ROC curve of a class: the area, and its share in the average: 1 of each.
-- Grain: rows of class_areas
SELECT
  group_id,
  area, -- NULL of a class that has no labels
  1 AS share -- not divided by the sum of all
FROM class_areas
