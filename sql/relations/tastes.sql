-- tastes: one row per group and list of a user with a history: the mean popularity of the first k documents of the list, and of
-- what the user had before.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
SELECT
  m.group_id,
  f.users_of_list,
  p.users_of_history
FROM members AS m
JOIN (
  SELECT
    list_id,
    AVG(users) AS users_of_list
  FROM familiar
  WHERE rank <= $k
  GROUP BY list_id
) AS f ON f.list_id = m.list_id
JOIN (
  SELECT
    l.list_id,
    AVG(i.users) AS users_of_history
  FROM history AS h
  JOIN lists AS l ON l.group_id = h.group_id AND l.query_id = h.query_id
  JOIN popularity AS i ON i.group_id = h.group_id AND i.doc_id = h.doc_id
  GROUP BY l.list_id
) AS p ON p.list_id = m.list_id
