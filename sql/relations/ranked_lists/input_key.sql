-- ranked_lists: one row per ranked list to evaluate, identified by the ids of the input.
-- Grain: list_id
SELECT
  group_id,
  query_id,
  query_id AS list_id
FROM selected_queries
