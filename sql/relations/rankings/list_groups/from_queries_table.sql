-- list_groups: one row per list and group in which it is counted, by columns of the queries table.
-- Scope: slice (a list is counted in every slice)
-- Grain: group_id, list_id
SELECT group_id, ranked_lists.list_id, ranked_lists.query_id
FROM ranked_lists
LEFT JOIN queries ON queries.query_id = ranked_lists.query_id
