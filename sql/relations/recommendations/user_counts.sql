-- user_counts: one row per group: its number of users with a history.
-- Scope: group (popularity is measured over all users)
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS total_users
FROM (
  -- one row per group and user with a history
  SELECT
    group_id, query_id,
    COUNT(*) AS num_rows
  FROM history
  GROUP BY group_id, query_id
) AS distinct_users
GROUP BY group_id
