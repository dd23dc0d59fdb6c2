-- ranked_lists: one row per list to evaluate, even if empty: its group, its query, and the columns of the input as key.
-- Grain: list_id
SELECT
  group_id, query_id,
  query_id AS list_id -- the columns of by and the query
FROM selected_queries
