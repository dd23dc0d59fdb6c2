-- document_row_counts: one row per list, input (run or judgments) and document: its number of rows in the input. Neither input nor doc_id is a column.
-- Reads: with duplicates.
-- Grain: many per list_id
SELECT
  ranked_lists.list_id,
  COUNT(*) AS num_copies -- 1 if the document is no duplicate
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
GROUP BY ranked_lists.list_id, run.doc_id
UNION ALL
SELECT
  ranked_lists.list_id,
  COUNT(*) AS num_copies
FROM qrels
JOIN ranked_lists ON ranked_lists.group_id = qrels.group_id AND ranked_lists.query_id = qrels.query_id
GROUP BY ranked_lists.list_id, qrels.doc_id
