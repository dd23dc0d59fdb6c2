-- rarest_class: one row per group: the rows of its rarest class, if rows have no weights.
-- Grain: group_id
SELECT
  group_id,
  MIN(NULLIF(class_weight, 0)) AS audit_rarest_class
FROM class_areas
GROUP BY group_id
