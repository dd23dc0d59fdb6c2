-- num_predictions: number of predictions, whatever they weigh.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) AS num_predictions
FROM predictions
GROUP BY group_id
