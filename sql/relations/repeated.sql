-- repeated: one row per document of a list and input: how many rows run or judgments have for it.
-- Rows: with duplicates.
SELECT
  l.list_id,
  COUNT(*) AS copies
FROM run AS r
JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
GROUP BY l.list_id, r.doc_id
UNION ALL
SELECT
  l.list_id,
  COUNT(*) AS copies
FROM qrels AS j
JOIN lists AS l ON l.group_id = j.group_id AND l.query_id = j.query_id
GROUP BY l.list_id, j.doc_id
