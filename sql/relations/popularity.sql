-- popularity: one row per item of the history: how many users had it, and its place by that; equals share a place, and none is left out.
-- Across lists: an item is popular with all users.
SELECT
  group_id,
  doc_id,
  users,
  DENSE_RANK() OVER (PARTITION BY group_id ORDER BY users DESC) AS place
FROM (
  SELECT
    group_id,
    doc_id,
    COUNT(*) AS users
  FROM history
  GROUP BY group_id, doc_id
) AS counted
