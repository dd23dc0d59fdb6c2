-- without_leakage: one row per row of a split, without cold-start or already seen rows in parts other than the first.
-- A row is a cold start if its user or item is not in the first part, and seen if its user and item are there together. Each fold is
-- filtered on its own.
-- Grain: rows of split_rows
SELECT s.*
FROM split_rows AS s
LEFT JOIN (SELECT fold AS of_fold, user_id AS known_user FROM split_rows WHERE split = $first GROUP BY fold, user_id) AS users
  ON users.of_fold = s.fold AND users.known_user = s.user_id
LEFT JOIN (SELECT fold AS in_fold, item_id AS known_item FROM split_rows WHERE split = $first GROUP BY fold, item_id) AS items
  ON items.in_fold = s.fold AND items.known_item = s.item_id
LEFT JOIN (
  SELECT fold AS at_fold, user_id AS seen_user, item_id AS seen_item FROM split_rows WHERE split = $first GROUP BY fold, user_id, item_id
) AS pairs
  ON pairs.at_fold = s.fold AND pairs.seen_user = s.user_id AND pairs.seen_item = s.item_id
WHERE s.split = $first OR (NOT users.known_user IS NULL AND NOT items.known_item IS NULL AND pairs.seen_user IS NULL)
