-- Observations: weight of all predictions, without weights their number.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: Magnetic's LightMetrics.
SELECT
  group_id,
  SUM(weight) AS observations
FROM predictions
GROUP BY group_id
