-- num_records: number of records evaluated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(n) AS num_records
FROM contingency_table
GROUP BY group_id
