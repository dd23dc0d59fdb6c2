-- retrieved_documents: one row per retrieved document with a judgment; unjudged documents are removed after any cut at the depth.
-- Grain: list_id, doc_id
SELECT
  r.list_id,
  r.doc_id,
  r.score,
  r.input_rank
FROM read_documents AS r
JOIN judgments AS j ON j.list_id = r.list_id AND j.doc_id = r.doc_id
WHERE j.relevance >= 0
