-- state: one row per group, with what merges by addition.
SELECT
  group_id,
  COUNT(*) AS num_rows
FROM predictions
GROUP BY group_id
