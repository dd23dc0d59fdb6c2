-- group_history_users: one row per group and user with a history.
-- Scope: group (the users of a group are all users of its history, not that of one list)
-- Grain: group_id, query_id
SELECT
  group_id,
  query_id,
  COUNT(*) AS num_rows
FROM history_users
GROUP BY group_id, query_id
