-- UserCoverage: share of the users with a history who have a non-empty list.
--     UserCoverage = users with a list / users with a history
-- Use when: some users get no recommendations, for example by filters or missing history.
-- Depth: 1.
-- Interval: none (it describes the data)
-- Range: 0 to 1.
-- Undefined: no history.
-- Unit: share of users.
-- Source: RecTools CoveredUsers.
SELECT
  group_id,
  MAX(num_users_with_list) / NULLIF(MAX(total_users), 0) AS user_coverage -- of its one row
FROM user_coverage
GROUP BY group_id
