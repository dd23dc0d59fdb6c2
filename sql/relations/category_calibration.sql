-- category_calibration: one row per ranked list and category of its user's history, with the share of the category in the history and in the list.
-- Shares of the list are of its first k documents. Lists without any categorized document among these have no rows.
-- Grain: rows of history_categories
SELECT
  i.list_id,
  i.history_share,
  COALESCE(t.category_share, 0) AS list_share
FROM history_categories AS i
JOIN (
  SELECT
    list_id,
    COUNT(*) AS categories
  FROM list_category_counts
  GROUP BY list_id
) AS c ON c.list_id = i.list_id
LEFT JOIN list_category_counts AS t ON t.list_id = i.list_id AND t.category = i.category
