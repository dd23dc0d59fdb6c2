-- numbered_classes: one row per group and class that is observed or predicted: its number in the order of classes, and its weights.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY class_id) AS class_number, -- from 1, in the order of the classes
  tp, -- weight of the predictions of the class that are right
  label_weight, -- weight of the predictions with this label
  predicted_weight -- weight of the predictions of this class
FROM class_counts
