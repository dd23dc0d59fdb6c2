-- labels: one row per group: its items that have a label.
-- Grain: group_id
SELECT
  group_id,
  SUM(CASE WHEN label IS NULL THEN 0 ELSE 1 END) AS audit_labels
FROM judged
GROUP BY group_id
