-- read_documents: one row per retrieved document, judged or not, without a limit on depth.
-- Grain: list_id, doc_id
SELECT
  l.list_id,
  r.doc_id,
  r.score,
  r.rank AS input_rank
FROM run AS r
JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
