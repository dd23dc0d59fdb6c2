-- effective_rows: one row per group: its rows of equal weight that would say as much.
-- Source: Kish 1965.
-- Grain: group_id
SELECT
  group_id,
  SUM(weight) * SUM(weight) / NULLIF(SUM(weight * weight), 0) AS audit_effective_rows
FROM predictions
GROUP BY group_id
