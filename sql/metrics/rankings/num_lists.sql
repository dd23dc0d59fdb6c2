-- num_lists: number of lists evaluated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) AS num_lists
FROM list_groups
GROUP BY group_id
