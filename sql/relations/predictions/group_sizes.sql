-- group_sizes: one row per group: its number of predictions, and its least and greatest label, of predictions of weight above 0.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS total_rows,
  MIN(CASE WHEN weight > 0 THEN label END) AS least_label,
  MAX(CASE WHEN weight > 0 THEN label END) AS greatest_label
FROM predictions
GROUP BY group_id
