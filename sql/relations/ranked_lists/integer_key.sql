-- ranked_lists: one row per ranked list to evaluate, with an integer key, which joins and sorts faster than the ids of the input.
-- Grain: list_id
SELECT
  group_id,
  query_id,
  CAST(ROW_NUMBER() OVER (ORDER BY group_id, query_id) AS INTEGER) AS list_id
FROM selected_queries
