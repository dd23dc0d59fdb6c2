-- reached: one row per group: how many users have a history, and how many of these a list that holds documents.
SELECT
  g.group_id,
  COALESCE(s.covered, 0) AS covered,
  n.readers
FROM (
  SELECT
    group_id,
    COUNT(*) AS all_lists
  FROM members
  GROUP BY group_id
) AS g
LEFT JOIN (
  SELECT
    t.group_id,
    COUNT(*) AS covered
  FROM (
    SELECT
      m.group_id,
      l.query_id,
      COUNT(*) AS times
    FROM members AS m
    JOIN lists AS l ON l.list_id = m.list_id
    JOIN answers AS a ON a.list_id = l.list_id
    GROUP BY m.group_id, l.query_id
  ) AS t
  JOIN followers AS f ON f.group_id = t.group_id AND f.query_id = t.query_id
  GROUP BY t.group_id
) AS s ON s.group_id = g.group_id
LEFT JOIN (
  SELECT
    group_id,
    COUNT(*) AS readers
  FROM followers
  GROUP BY group_id
) AS n ON n.group_id = g.group_id
