-- too_few_negatives: one row per group with positives, but fewer negatives than k: the weight of its negatives.
-- Grain: group_id
SELECT
  group_id,
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) AS negatives -- choose few_negatives=truncate, pad or skip
FROM predictions
GROUP BY group_id
HAVING SUM(label) > 0 AND SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) < $k
