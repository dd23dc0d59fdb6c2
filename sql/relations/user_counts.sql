-- user_counts: one row per group, with its number of users with a history.
-- Scope: group (popularity is measured over all users)
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS total_users
FROM (
  SELECT
    group_id,
    query_id,
    COUNT(*) AS times
  FROM history
  GROUP BY group_id, query_id
) AS counted
GROUP BY group_id
