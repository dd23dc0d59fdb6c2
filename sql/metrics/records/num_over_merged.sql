-- num_over_merged: number of predicted clusters with records of several true ones.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN n < predicted_size THEN counts_predicted ELSE 0 END) AS num_over_merged
FROM contingency_table
GROUP BY group_id
