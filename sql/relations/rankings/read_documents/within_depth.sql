-- read_documents: one row per list and document within the depth, judged or not: its score and the rank column of the run.
-- ties chooses document_rank().
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id, doc_id
SELECT
  list_id, doc_id, score,
  input_rank -- rank column of the run, NULL without one
FROM (
  -- one row per list and retrieved document
  SELECT
    ranked_lists.list_id, run.doc_id, run.score,
    run.rank AS input_rank,
    document_rank(ranked_lists.list_id, run.score, run.rank, run.doc_id) AS document_rank
  FROM run
  JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
) AS ordered_documents
WHERE document_rank <= $depth
