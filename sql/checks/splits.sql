-- splits: rules for the rows of a split; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(user_id) AS null_user_id, -- user_id is NULL
  COUNT(*) - COUNT(item_id) AS null_item_id, -- item_id is NULL
  COUNT(*) - COUNT(happened_at) AS null_happened_at, -- happened_at is NULL
  COUNT(*) - COUNT(split) AS null_split -- split is NULL
FROM splits
