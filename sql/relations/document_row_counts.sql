-- document_row_counts: one row per input (run or judgments), ranked list and document, with its number of rows.
-- Reads: with duplicates.
-- Grain: many per list_id
SELECT
  l.list_id,
  COUNT(*) AS num_copies
FROM run AS r
JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
GROUP BY l.list_id, r.doc_id
UNION ALL
SELECT
  l.list_id,
  COUNT(*) AS num_copies
FROM qrels AS j
JOIN ranked_lists AS l ON l.group_id = j.group_id AND l.query_id = j.query_id
GROUP BY l.list_id, j.doc_id
