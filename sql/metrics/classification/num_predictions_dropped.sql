-- num_predictions_dropped: number of predictions left out by nulls=drop: they have no label, score or weight.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(dropped_rows) AS num_predictions_dropped
FROM dropped_predictions
GROUP BY group_id
