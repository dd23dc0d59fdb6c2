-- What can be wrong with one row of a split. Each column counts the rows that break one rule, which its comment says;
-- what stands before a colon is what a metric requires (-- Requires:), and the rule is for those metrics only.
SELECT
  COUNT(*) AS all_rows,
  COUNT(*) - COUNT(user_id) AS null_user_id, -- user_id is NULL
  COUNT(*) - COUNT(item_id) AS null_item_id, -- item_id is NULL
  COUNT(*) - COUNT(happened_at) AS null_happened_at, -- happened_at is NULL
  COUNT(*) - COUNT(split) AS null_split -- split is NULL
FROM splits
