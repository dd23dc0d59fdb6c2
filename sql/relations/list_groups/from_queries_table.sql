-- list_groups: one row per ranked list and group in which it is counted, by columns of the queries table.
-- Scope: slice (a list is counted in every slice)
-- Grain: group_id, list_id
SELECT
  group_id,
  l.list_id
FROM ranked_lists AS l
LEFT JOIN queries AS a ON a.query_id = l.query_id
