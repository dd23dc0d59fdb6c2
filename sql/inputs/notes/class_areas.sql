-- class_areas: one row per group: its areas of classes, and those that are undefined.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_class_areas,
  SUM(CASE WHEN area IS NULL THEN 1 ELSE 0 END) AS audit_undefined_areas -- areas of classes are undefined, of classes that are no label or the only one, and are left out
FROM class_areas
GROUP BY group_id
