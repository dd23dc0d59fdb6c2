-- popularity_comparison: one row per group and ranked list whose user has a history, with the mean item popularity of the list and of the history.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: rows of list_groups
SELECT
  m.group_id,
  f.list_mean_popularity,
  p.history_mean_popularity
FROM list_groups AS m
JOIN (
  SELECT
    list_id,
    AVG(num_users) AS list_mean_popularity
  FROM recommendation_novelty
  WHERE rank <= $k
  GROUP BY list_id
) AS f ON f.list_id = m.list_id
JOIN (
  SELECT
    l.list_id,
    AVG(i.num_users) AS history_mean_popularity
  FROM history AS h
  JOIN ranked_lists AS l ON l.group_id = h.group_id AND l.query_id = h.query_id
  JOIN item_popularity AS i ON i.group_id = h.group_id AND i.doc_id = h.doc_id
  GROUP BY l.list_id
) AS p ON p.list_id = m.list_id
