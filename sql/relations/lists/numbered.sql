-- lists: one row per ranked list to evaluate, numbered: integers join and sort faster than users' ids.
SELECT
  group_id,
  query_id,
  CAST(ROW_NUMBER() OVER (ORDER BY group_id, query_id) AS INTEGER) AS list_id
FROM chosen
