-- group_list_counts: one row per group with lists: the number of its lists.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS num_lists
FROM list_groups
GROUP BY group_id
