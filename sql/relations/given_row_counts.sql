-- given_row_counts: one row per ranked list and input (run or judgments), with its number of rows before nulls=drop.
-- Reads: unfiltered.
-- Grain: many per list_id
SELECT
  l.list_id,
  COUNT(*) AS given_rows
FROM run AS r
JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
GROUP BY l.list_id
UNION ALL
SELECT
  l.list_id,
  COUNT(*) AS given_rows
FROM qrels AS j
JOIN ranked_lists AS l ON l.group_id = j.group_id AND l.query_id = j.query_id
GROUP BY l.list_id
