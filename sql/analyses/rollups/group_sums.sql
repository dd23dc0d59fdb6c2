-- group_sums: one row per group: its number of predictions, and sums of metrics, which add over days.
-- For each: total (a SUM, COUNT, MIN or MAX over predictions that metrics need)
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS num_rows,
  $total AS total
FROM predictions
GROUP BY group_id
