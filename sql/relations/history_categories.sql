-- history_categories: one row per ranked list and category of its user's history, with the share of the category in the history.
-- Grain: list_id, category
SELECT
  list_id,
  category,
  share_sum / NULLIF(SUM(share_sum) OVER (PARTITION BY list_id), 0) AS history_share
FROM (
  SELECT
    l.list_id,
    f.category,
    SUM(f.category_share) AS share_sum
  FROM history AS h
  JOIN ranked_lists AS l ON l.group_id = h.group_id AND l.query_id = h.query_id
  JOIN item_categories AS f ON f.group_id = l.group_id AND f.doc_id = h.doc_id
  GROUP BY l.list_id, f.category
) AS added
