-- group_sizes: one row per group: its number of predictions.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS total_rows
FROM predictions
GROUP BY group_id
