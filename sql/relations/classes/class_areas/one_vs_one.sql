-- class_areas: one row per group, class and other label: weights of both, their sum, and AUC of the class's score between the two.
-- Grain: group_id, class_id, label
SELECT
  group_id, class_id, label,
  class_weight, -- weight of the class's labels
  label_weight AS other_weight, -- weight of the other label
  class_weight + label_weight AS pair_weight, -- of both classes' labels: share if weighted
  concordance / NULLIF(class_weight, 0) / NULLIF(label_weight, 0) AS area -- NULL without labels of one of the two
FROM (
  -- one row per group, class and label
  SELECT
    class_concordances.*,
    SUM(CASE WHEN label = class_id THEN label_weight ELSE 0 END) OVER (PARTITION BY group_id, class_id) AS class_weight
  FROM class_concordances
) AS weighted_concordances
WHERE label <> class_id
