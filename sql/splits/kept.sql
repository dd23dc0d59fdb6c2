-- The rows of a split without those of other parts than the first that are cold or seen, as far as these are not wanted: cold of a user, or of
-- an item, that the first part does not have, and seen of a user and an item that it has together. Each fold is by itself.
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
