-- judged: one row per judged document with its rank, NULL where it was not retrieved; equal scores by doc_id, greatest first,
-- as trec_eval. The scores of each list are sorted without documents, and what is judged finds its own among them.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engine: duckdb
SELECT
  list_id,
  relevance,
  CASE WHEN place <= $depth THEN place END AS rank,
  CASE WHEN place <= $depth THEN CASE WHEN retrieved_docs > $depth THEN $depth ELSE retrieved_docs END END AS num_ret,
  CAST(1 AS DOUBLE) AS docs,
  CAST(1 AS DOUBLE) AS chance
FROM (
  SELECT
    j.list_id,
    j.relevance,
    s.first_rank + COALESCE(b.docs_above, 0) AS place,
    s.retrieved_docs
  FROM judgments AS j
  LEFT JOIN (
    SELECT
      l.list_id,
      r.doc_id,
      r.score
    FROM run AS r
    JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
  ) AS f ON f.list_id = j.list_id AND f.doc_id = j.doc_id
  LEFT JOIN score_ranks AS s ON s.list_id = f.list_id AND s.score IS NOT DISTINCT FROM f.score
  LEFT JOIN broken_ties AS b ON b.list_id = f.list_id AND b.doc_id = f.doc_id
) AS found
