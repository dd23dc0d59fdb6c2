-- history_users: one row per group and user with a history.
-- Scope: group (the users of a group are all users of its history, not that of one list), slice (a user is counted in every slice)
-- Grain: group_id, query_id
SELECT group_id, query_id
FROM history
GROUP BY group_id, query_id
