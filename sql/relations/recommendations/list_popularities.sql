-- list_popularities: one row per group and evaluated user with a history: mean popularity of the items in the list and in the history.
-- Rows have no list.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: rows of list_groups
SELECT
  list_groups.group_id,
  list_popularity.list_mean_popularity, -- mean users of an item among its first k
  history_popularity.history_mean_popularity -- mean users of an item in the history
FROM list_groups
JOIN (
  -- one row per list that is not empty
  SELECT
    list_id,
    AVG(num_users) AS list_mean_popularity
  FROM recommendation_novelty
  WHERE rank <= $k
  GROUP BY list_id
) AS list_popularity ON list_popularity.list_id = list_groups.list_id
JOIN (
  -- one row per list whose user has a history
  SELECT
    ranked_lists.list_id,
    AVG(item_popularity.num_users) AS history_mean_popularity
  FROM history
  JOIN ranked_lists ON ranked_lists.group_id = history.group_id AND ranked_lists.query_id = history.query_id
  JOIN item_popularity
    ON item_popularity.group_id = history.group_id AND item_popularity.doc_id = history.doc_id
  GROUP BY ranked_lists.list_id
) AS history_popularity ON history_popularity.list_id = list_groups.list_id
