-- rivals: one row per prediction with its place among those of its class, the highest score first, and the number of
-- positives of the list.
SELECT
  group_id,
  label,
  score,
  ROW_NUMBER() OVER (PARTITION BY group_id, CASE WHEN label = 1 THEN 1 ELSE 0 END ORDER BY score DESC) AS place,
  SUM(label) OVER (PARTITION BY group_id) AS positives
FROM predictions
