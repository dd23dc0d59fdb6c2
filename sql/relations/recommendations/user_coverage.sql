-- user_coverage: one row per group with lists: number of its users with a history, and number of those with recommendations.
-- Grain: group_id
SELECT
  group_list_counts.group_id,
  COALESCE(covered_user_counts.num_users_with_list, 0) AS num_users_with_list, -- users with a history and a list that is not empty
  history_user_counts.total_users -- users with a history
FROM group_list_counts
LEFT JOIN (
  -- one row per group with recommendations
  SELECT
    listed_users.group_id,
    COUNT(*) AS num_users_with_list
  FROM (
    -- one row per group and user with a list that is not empty
    SELECT
      list_groups.group_id, ranked_lists.query_id,
      COUNT(*) AS num_list_rows
    FROM list_groups
    JOIN ranked_lists ON ranked_lists.list_id = list_groups.list_id
    JOIN list_lengths ON list_lengths.list_id = ranked_lists.list_id
    GROUP BY list_groups.group_id, ranked_lists.query_id
  ) AS listed_users
  JOIN history_users
    ON history_users.group_id = listed_users.group_id AND history_users.query_id = listed_users.query_id
  GROUP BY listed_users.group_id
) AS covered_user_counts ON covered_user_counts.group_id = group_list_counts.group_id
LEFT JOIN (
  -- one row per group with a history
  SELECT
    group_id,
    COUNT(*) AS total_users
  FROM history_users
  GROUP BY group_id
) AS history_user_counts ON history_user_counts.group_id = group_list_counts.group_id
