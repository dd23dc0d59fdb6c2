-- judged_document_scores: one row per list and retrieved document that has a judgment: its score, and number of its rows in the run.
-- Grain: list_id, doc_id
SELECT
  judgments.list_id, judgments.doc_id, run.score,
  COUNT(*) AS num_copies -- rows of the document in the run
FROM run
JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
JOIN judgments ON judgments.list_id = ranked_lists.list_id AND judgments.doc_id = run.doc_id
GROUP BY judgments.list_id, judgments.doc_id, run.score
