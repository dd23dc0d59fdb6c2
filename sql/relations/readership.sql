-- readership: one row per group of the history: how many users it has.
-- Across lists: an item is popular with all users.
SELECT
  group_id,
  COUNT(*) AS readers
FROM (
  SELECT
    group_id,
    query_id,
    COUNT(*) AS times
  FROM history
  GROUP BY group_id, query_id
) AS counted
GROUP BY group_id
