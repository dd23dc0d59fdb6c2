-- num_splits: number of cuts that leave no predicted cluster with records of two true ones.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) - SUM(predicted_first) AS num_splits
FROM contingency
GROUP BY group_id
