-- num_over_split: number of true clusters with records in several predicted ones.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN n < true_size THEN counts_true ELSE 0 END) AS num_over_split
FROM contingency_table
GROUP BY group_id
