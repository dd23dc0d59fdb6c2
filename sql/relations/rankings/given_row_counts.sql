-- given_row_counts: one row per list and input (run or judgments) with rows of it: number of rows before nulls=drop, without the input.
-- Reads: unfiltered.
-- Grain: many per list_id
SELECT
  ranked_lists.list_id,
  COUNT(*) AS given_rows
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
GROUP BY ranked_lists.list_id
UNION ALL
SELECT
  ranked_lists.list_id,
  COUNT(*) AS given_rows
FROM qrels
JOIN ranked_lists ON ranked_lists.group_id = qrels.group_id AND ranked_lists.query_id = qrels.query_id
GROUP BY ranked_lists.list_id
