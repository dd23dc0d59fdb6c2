-- Observations: weight of all predictions, without weights their number.
-- Undefined: never.
-- Source: Magnetic's LightMetrics.
SELECT
  list_id,
  SUM(weight) AS observations
FROM predictions
GROUP BY list_id
