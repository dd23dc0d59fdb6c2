-- user_coverage: one row per group, with its number of users with a history, and of those with a non-empty ranked list.
-- Grain: group_id
SELECT
  g.group_id,
  COALESCE(s.num_users_with_list, 0) AS num_users_with_list,
  n.total_users
FROM (
  SELECT
    group_id,
    COUNT(*) AS all_lists
  FROM list_groups
  GROUP BY group_id
) AS g
LEFT JOIN (
  SELECT
    t.group_id,
    COUNT(*) AS num_users_with_list
  FROM (
    SELECT
      m.group_id,
      l.query_id,
      COUNT(*) AS times
    FROM list_groups AS m
    JOIN ranked_lists AS l ON l.list_id = m.list_id
    JOIN list_lengths AS a ON a.list_id = l.list_id
    GROUP BY m.group_id, l.query_id
  ) AS t
  JOIN history_users AS f ON f.group_id = t.group_id AND f.query_id = t.query_id
  GROUP BY t.group_id
) AS s ON s.group_id = g.group_id
LEFT JOIN (
  SELECT
    group_id,
    COUNT(*) AS total_users
  FROM history_users
  GROUP BY group_id
) AS n ON n.group_id = g.group_id
