-- num_lists: number of lists evaluated.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  COUNT(*) AS num_lists
FROM members
GROUP BY group_id
