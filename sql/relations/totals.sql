-- totals: one row per list: how many predictions it has.
SELECT
  list_id,
  COUNT(*) AS all_rows
FROM predictions
GROUP BY list_id
