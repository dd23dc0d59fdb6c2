-- followers: one row per group and user with a history.
-- Across lists: a group is compared with all users.
SELECT
  group_id,
  query_id,
  COUNT(*) AS times
FROM audience
GROUP BY group_id, query_id
