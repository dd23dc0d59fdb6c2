-- Negatives: weight of the negatives; 0 is why a metric of both classes is undefined.
-- Requires: binary labels.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(weight * (1 - label)) AS negatives
FROM predictions
GROUP BY list_id
