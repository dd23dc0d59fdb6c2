-- num_singletons: number of predicted clusters of one record.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN predicted_size = 1 THEN 1 ELSE 0 END) AS num_singletons
FROM contingency_table
GROUP BY group_id
