-- judged_documents: one row per judged document, with its rank, NULL if it was not retrieved; ties are broken by doc_id, greatest first.
-- The scores of each list are sorted without their documents, and the rank of a judged document is found by its score.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engines: duckdb
-- Grain: rows of judgments
SELECT
  list_id,
  relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank,
  CASE WHEN document_rank <= $depth THEN CASE WHEN list_length > $depth THEN $depth ELSE list_length END END AS list_length,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(1 AS DOUBLE) AS rank_probability
FROM (
  SELECT
    j.list_id,
    j.relevance,
    s.tie_first_rank + COALESCE(b.tied_docs_above, 0) AS document_rank,
    s.list_length
  FROM judgments AS j
  LEFT JOIN (
    SELECT
      l.list_id,
      r.doc_id,
      r.score
    FROM run AS r
    JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
  ) AS f ON f.list_id = j.list_id AND f.doc_id = j.doc_id
  LEFT JOIN score_ranks AS s ON s.list_id = f.list_id AND s.score IS NOT DISTINCT FROM f.score
  LEFT JOIN tie_breaks AS b ON b.list_id = f.list_id AND b.doc_id = f.doc_id
) AS found
