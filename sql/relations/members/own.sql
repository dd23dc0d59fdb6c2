-- members: one row per list and group that it counts in.
-- Per slice: a list counts in each.
SELECT
  group_id,
  list_id
FROM lists
