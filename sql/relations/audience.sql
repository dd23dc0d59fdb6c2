-- audience: one row per user with a history and group that he counts in.
-- Across lists: a group is compared with all users.
-- Per slice: a user counts in each.
SELECT
  group_id,
  query_id
FROM history
GROUP BY group_id, query_id
