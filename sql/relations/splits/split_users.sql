-- split_users: one row per group and user of a split: numbers of train and test rows, last train time and first test time.
-- Grain: group_id, user_id
SELECT
  group_id, user_id,
  SUM(CASE WHEN split = 'train' THEN 1 ELSE 0 END) AS train_rows,
  SUM(CASE WHEN split = 'test' THEN 1 ELSE 0 END) AS test_rows,
  MAX(CASE WHEN split = 'train' THEN happened_at END) AS last_train_at, -- NULL without train rows
  MIN(CASE WHEN split = 'test' THEN happened_at END) AS first_test_at -- NULL without test rows
FROM splits
GROUP BY group_id, user_id
