-- split_items: one row per group and item of a split: its numbers of train and test rows.
-- Grain: group_id, item_id
SELECT
  group_id, item_id,
  SUM(CASE WHEN split = 'train' THEN 1 ELSE 0 END) AS train_rows,
  SUM(CASE WHEN split = 'test' THEN 1 ELSE 0 END) AS test_rows
FROM splits
GROUP BY group_id, item_id
