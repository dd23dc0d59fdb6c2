-- num_predictions_dropped: number of predictions left out by nulls=drop: they have no label, score or weight.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(row_change) AS num_predictions_dropped
FROM dropped_prediction_counts
GROUP BY group_id
