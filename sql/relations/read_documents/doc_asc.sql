-- read_documents: one row per retrieved document within the depth, judged or not; ties are broken by doc_id, smallest first.
-- $depth: integer from 1, default all: number of documents of a list that are read.
-- Grain: list_id, doc_id
SELECT
  list_id,
  doc_id,
  score,
  input_rank
FROM (
  SELECT
    l.list_id,
    r.doc_id,
    r.score,
    r.rank AS input_rank,
    ROW_NUMBER() OVER (PARTITION BY l.list_id ORDER BY r.score DESC, r.doc_id) AS place
  FROM run AS r
  JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
) AS numbered
WHERE place <= $depth
