-- few_negatives: groups that have positives, but fewer negatives than these are compared with.
SELECT
  group_id,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives -- choose few_negatives=truncate, pad or skip
FROM predictions
GROUP BY group_id
HAVING SUM(label) > 0 AND SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) < $k
