-- list_groups: one row per ranked list and group in which it is counted.
-- Per slice: a list is counted in every slice.
SELECT
  group_id,
  list_id
FROM ranked_lists
