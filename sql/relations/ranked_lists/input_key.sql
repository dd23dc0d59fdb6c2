-- ranked_lists: one row per list to evaluate, the answer to one query, even if empty: its query, and the ids of the input as key.
-- Grain: list_id
SELECT
  group_id,
  query_id,
  query_id AS list_id -- the columns of by and the query
FROM selected_queries
