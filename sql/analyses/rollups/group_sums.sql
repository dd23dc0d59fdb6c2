-- group_sums: one row per group: its number of predictions, and sums of metrics, which add over days.
-- Python adds a column for each sum that a metric needs.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS num_rows
FROM predictions
GROUP BY group_id
