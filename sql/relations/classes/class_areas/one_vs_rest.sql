-- class_areas: one row per group and class: weights of its labels and of all others, share if weighted, and AUC of its score against the rest.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  class_id AS label,
  SUM(CASE WHEN label = class_id THEN label_weight ELSE 0 END) AS class_weight, -- weight of the class's labels
  SUM(CASE WHEN label = class_id THEN 0 ELSE label_weight END) AS other_weight, -- weight of all other labels
  SUM(CASE WHEN label = class_id THEN label_weight ELSE 0 END) AS pair_weight, -- of the class's labels: share if weighted
  SUM(CASE WHEN label = class_id THEN 0 ELSE concordance END)
    / NULLIF(SUM(CASE WHEN label = class_id THEN label_weight ELSE 0 END), 0)
    / NULLIF(SUM(CASE WHEN label = class_id THEN 0 ELSE label_weight END), 0) AS area -- NULL without labels of the class, or others
FROM class_concordances
GROUP BY group_id, class_id
