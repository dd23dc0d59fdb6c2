-- given: one row per list and input: how many rows run and judgments have for it, also those that nulls=drop leaves out.
-- Rows: as given.
SELECT
  l.list_id,
  COUNT(*) AS given_rows
FROM run AS r
JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
GROUP BY l.list_id
UNION ALL
SELECT
  l.list_id,
  COUNT(*) AS given_rows
FROM qrels AS j
JOIN lists AS l ON l.group_id = j.group_id AND l.query_id = j.query_id
GROUP BY l.list_id
