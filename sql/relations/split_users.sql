-- one row per user: how many of its rows are train and how many test, and when.
SELECT
  group_id,
  user_id,
  SUM(CASE WHEN split = 'train' THEN 1 ELSE 0 END) AS train_rows,
  SUM(CASE WHEN split = 'test' THEN 1 ELSE 0 END) AS test_rows,
  MAX(CASE WHEN split = 'train' THEN happened_at END) AS last_train,
  MIN(CASE WHEN split = 'test' THEN happened_at END) AS first_test
FROM splits
GROUP BY group_id, user_id
