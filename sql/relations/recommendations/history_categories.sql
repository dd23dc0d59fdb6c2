-- history_categories: one row per list and category of any item in its user's history: the share of the category in the history.
-- Grain: list_id, category
SELECT
  list_id, category,
  share_sum / NULLIF(SUM(share_sum) OVER (PARTITION BY list_id), 0) AS history_share -- share of the category in the history, of 1
FROM (
  -- one row per list and category of its user's history
  SELECT
    ranked_lists.list_id, item_categories.category,
    SUM(item_categories.category_share) AS share_sum -- sum of the category's shares of items
  FROM history
  JOIN ranked_lists ON ranked_lists.group_id = history.group_id AND ranked_lists.query_id = history.query_id
  JOIN item_categories
    ON item_categories.group_id = ranked_lists.group_id AND item_categories.doc_id = history.doc_id
  GROUP BY ranked_lists.list_id, item_categories.category
) AS history_category_sums
