-- extents: one row per group: how many predictions it has, their weight, and whether all weigh 1.
SELECT
  group_id,
  COUNT(*) AS predictions,
  SUM(weight) AS weight,
  CASE WHEN MIN(weight) = 1 AND MAX(weight) = 1 THEN 1 ELSE 0 END AS unweighted
FROM predictions
WHERE weight > 0
GROUP BY group_id
