-- split_user_items: one row per group, user and item of a split: their numbers of train and test rows.
-- Grain: group_id, user_id, item_id
SELECT
  group_id, user_id, item_id,
  SUM(CASE WHEN split = 'train' THEN 1 ELSE 0 END) AS train_rows,
  SUM(CASE WHEN split = 'test' THEN 1 ELSE 0 END) AS test_rows
FROM splits
GROUP BY group_id, user_id, item_id
