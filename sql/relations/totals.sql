-- totals: one row per group: how many predictions it has.
SELECT
  group_id,
  COUNT(*) AS all_rows
FROM predictions
GROUP BY group_id
