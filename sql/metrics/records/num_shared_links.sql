-- num_shared_links: number of pairs of records in one predicted and one true cluster.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(n * (n - 1)) / 2 AS num_shared_links
FROM contingency_table
GROUP BY group_id
