-- class_counts: one row per group: its classes, and those that are never predicted, or never observed.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_classes,
  SUM(CASE WHEN predicted_weight = 0 THEN 1 ELSE 0 END) AS audit_unpredicted_classes, -- MulticlassPrecision: classes are never predicted, and their precision, 0 / 0, {fill}
  SUM(CASE WHEN label_weight = 0 THEN 1 ELSE 0 END) AS audit_unobserved_classes -- MulticlassRecall: classes are never observed, and their recall, 0 / 0, {fill}
FROM class_counts
GROUP BY group_id
