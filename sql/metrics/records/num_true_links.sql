-- num_true_links: number of pairs of records in one true cluster.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(n * (true_size - 1)) / 2 AS num_true_links
FROM contingency_table
GROUP BY group_id
