-- num_test: number of rows whose split is test.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN split = 'test' THEN 1 ELSE 0 END) AS num_test
FROM splits
GROUP BY group_id
