-- tie_breaks: one row per retrieved document of a tied score, with the number of tied documents that rank above it, those of greater doc_id.
-- Engines: duckdb
-- Grain: list_id, doc_id
SELECT
  list_id,
  doc_id,
  RANK() OVER (PARTITION BY list_id, score ORDER BY doc_id DESC) - 1 AS tied_docs_above
FROM (
  SELECT
    l.list_id,
    r.doc_id,
    r.score
  FROM run AS r
  JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
  JOIN score_ranks AS s ON s.list_id = l.list_id AND s.score IS NOT DISTINCT FROM r.score
  WHERE s.is_tied = 1
) AS tied
