-- members: one row per list and group that it counts in, by what is known of its query.
-- Per slice: a list counts in each.
SELECT
  group_id,
  l.list_id
FROM lists AS l
LEFT JOIN queries AS a ON a.query_id = l.query_id
