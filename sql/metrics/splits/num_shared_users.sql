-- num_shared_users: users with rows in train and in test.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN train_rows > 0 AND test_rows > 0 THEN 1 ELSE 0 END) AS num_shared_users
FROM split_users
GROUP BY group_id
