-- evaluated: one row per group: how many records are evaluated.
SELECT
  group_id,
  SUM(n) AS records
FROM cells
GROUP BY group_id
