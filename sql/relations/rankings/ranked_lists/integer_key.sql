-- ranked_lists: one row per list to evaluate, even if empty: its group, its query, and an integer as key.
-- The integer key joins and sorts faster than the ids of the input.
-- Grain: list_id
SELECT
  group_id, query_id,
  CAST(ROW_NUMBER() OVER (ORDER BY group_id, query_id) AS INTEGER) AS list_id -- number of the list in this statement
FROM selected_queries
