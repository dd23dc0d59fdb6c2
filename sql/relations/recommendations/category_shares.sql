-- category_shares: one row per list and category of its user's history: shares of the category in the history and in the list, without the category.
-- Lists without any categorized document among the first k have no rows.
-- Grain: rows of history_categories
SELECT
  history_categories.list_id,
  history_categories.history_share, -- share of the category in the history, of 1
  COALESCE(list_category_counts.category_share, 0) AS list_share -- share of the category in the list, of 1
FROM history_categories
JOIN (
  -- one row per list with a categorized document
  SELECT
    list_id,
    COUNT(*) AS num_categories
  FROM list_category_counts
  GROUP BY list_id
) AS categorized_lists ON categorized_lists.list_id = history_categories.list_id
LEFT JOIN list_category_counts
  ON list_category_counts.list_id = history_categories.list_id
  AND list_category_counts.category = history_categories.category
