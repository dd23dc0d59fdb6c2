-- curve_points: one row per group: the points of its curve, and those that are left out.
-- Grain: group_id
SELECT
  group_id,
  MAX(num_thresholds) AS audit_thresholds,
  MAX(num_thresholds) - COUNT(*) AS audit_unlisted_points -- points of the curve are left out, and straight lines between the others hardly differ. Give points=0 for all
FROM curve_points
GROUP BY group_id
