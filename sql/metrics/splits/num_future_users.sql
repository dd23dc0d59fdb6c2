-- num_future_users: users with a row of train at or after their own first of test: leakage.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN last_train_at >= first_test_at THEN 1 ELSE 0 END) AS num_future_users
FROM split_users
GROUP BY group_id
