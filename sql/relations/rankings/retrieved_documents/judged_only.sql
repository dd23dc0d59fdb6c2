-- retrieved_documents: one row per list and document in it with a grade of 0 or more, after the cut at the depth: its score and rank in the run.
-- Grain: list_id, doc_id
SELECT
  read_documents.list_id, read_documents.doc_id, read_documents.score,
  read_documents.input_rank -- rank column of the run, NULL without one
FROM read_documents
JOIN judgments ON judgments.list_id = read_documents.list_id AND judgments.doc_id = read_documents.doc_id
WHERE judgments.relevance >= 0
