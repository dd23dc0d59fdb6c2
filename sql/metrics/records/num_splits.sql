-- num_splits: number of cuts that leave no predicted cluster with records of two true ones.
--     num_splits = overlaps - predicted clusters, a row being an overlap of two clusters
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) - SUM(counts_predicted) AS num_splits
FROM contingency_table
GROUP BY group_id
