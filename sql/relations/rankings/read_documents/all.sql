-- read_documents: one row per list and retrieved document at any depth, judged or not: its score and the rank column of the run.
-- Grain: list_id, doc_id
SELECT
  ranked_lists.list_id, run.doc_id, run.score,
  run.rank AS input_rank -- rank column of the run, NULL without one
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
