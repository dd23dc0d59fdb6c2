-- without_leakage: one row per row of a split: its columns, without cold-start or already seen rows in parts other than the first.
-- A row is a cold start if its user or item is not in the first part, and seen if its user and item are there together. Each fold is
-- filtered on its own.
-- Grain: rows of split_rows
SELECT split_rows.*
FROM split_rows
LEFT JOIN (
  -- one row per fold and user of the first part
  SELECT fold AS user_fold, user_id AS training_user
  FROM split_rows
  WHERE split = $first
  GROUP BY fold, user_id
) AS training_users
  ON training_users.user_fold = split_rows.fold AND training_users.training_user = split_rows.user_id
LEFT JOIN (
  -- one row per fold and item of the first part
  SELECT fold AS item_fold, item_id AS training_item
  FROM split_rows
  WHERE split = $first
  GROUP BY fold, item_id
) AS training_items
  ON training_items.item_fold = split_rows.fold AND training_items.training_item = split_rows.item_id
LEFT JOIN (
  -- one row per fold, user and item of the first part
  SELECT fold AS pair_fold, user_id AS seen_user, item_id AS seen_item
  FROM split_rows
  WHERE split = $first
  GROUP BY fold, user_id, item_id
) AS training_pairs
  ON training_pairs.pair_fold = split_rows.fold
  AND training_pairs.seen_user = split_rows.user_id
  AND training_pairs.seen_item = split_rows.item_id
WHERE split_rows.split = $first
  OR (training_users.training_user IS NOT NULL AND training_items.training_item IS NOT NULL AND training_pairs.seen_user IS NULL)
