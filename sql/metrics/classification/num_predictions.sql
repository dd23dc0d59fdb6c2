-- num_predictions: number of predictions, whatever they weigh.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  COUNT(*) AS num_predictions
FROM predictions
GROUP BY list_id
