-- group_sums: one row per group: sums of its predictions that can be added over days.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS num_rows
FROM predictions
GROUP BY group_id
