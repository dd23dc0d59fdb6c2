-- extents: one row per group: how many predictions it has, their weight, the sum of the squares of that, whether all weigh 1,
-- and whether labels and scores vary (1) or are all the same (0).
SELECT
  group_id,
  COUNT(*) AS predictions,
  SUM(weight) AS weight,
  SUM(weight * weight) AS squares,
  CASE WHEN MIN(weight) = 1 AND MAX(weight) = 1 THEN 1 ELSE 0 END AS unweighted,
  CASE WHEN MIN(label) < MAX(label) AND MIN(score) < MAX(score) THEN 1 ELSE 0 END AS varies
FROM predictions
WHERE weight > 0
GROUP BY group_id
