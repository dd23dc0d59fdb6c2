-- Positives: weight of the positives; 0 is why a metric of both classes is undefined.
-- Requires: binary labels.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: Magnetic's LightMetrics.
SELECT
  group_id,
  SUM(weight * label) AS positives
FROM predictions
GROUP BY group_id
