-- read_documents: one row per list and document at a rank within the depth, judged or not: its score and the rank that the run gives.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id, doc_id
SELECT
  ranked_lists.list_id,
  run.doc_id,
  run.score,
  run.rank AS input_rank -- rank column of the run, NULL without one
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
WHERE run.rank <= $depth
