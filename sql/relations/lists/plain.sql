-- lists: one row per ranked list to evaluate, under the ids the input has.
SELECT
  group_id,
  query_id,
  query_id AS list_id
FROM chosen
