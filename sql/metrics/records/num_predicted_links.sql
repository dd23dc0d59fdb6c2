-- num_predicted_links: number of pairs of records in one predicted cluster.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(n * (predicted_size - 1)) / 2 AS num_predicted_links
FROM contingency_table
GROUP BY group_id
