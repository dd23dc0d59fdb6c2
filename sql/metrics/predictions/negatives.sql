-- Negatives: weight of the negatives; 0 is why a metric of both classes is undefined.
-- Requires: binary labels.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(weight * (1 - label)) AS negatives
FROM predictions
GROUP BY group_id
