-- num_future_rows: rows of train at or after the first row of test of all: leakage.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN split = 'train' AND happened_at >= first_test_at THEN 1 ELSE 0 END) AS num_future_rows
FROM split_events
GROUP BY group_id
