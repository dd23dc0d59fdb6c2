-- num_repeated: pairs of user and item with rows in train and in test: leakage.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN train_rows > 0 AND test_rows > 0 THEN 1 ELSE 0 END) AS num_repeated
FROM split_user_items
GROUP BY group_id
