-- list_groups: one row per list and group in which it is counted, by columns of the list.
-- Scope: slice (a list is counted in every slice)
-- Grain: group_id, list_id
SELECT group_id, list_id, query_id
FROM ranked_lists
