-- judged: one row per judged document with its rank, NULL where it was not retrieved; equal scores by doc_id, greatest first,
-- as trec_eval. Each list is put into an array, in which its judged documents are looked up: the run is put in order once, by
-- query, and not again by document.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engine: duckdb, spark, databricks and bigquery, which have arrays.
-- Costly: every list is ranked.
SELECT
  list_id,
  relevance,
  CASE WHEN place <= $depth THEN place END AS rank,
  CASE WHEN place <= $depth THEN CASE WHEN retrieved_docs > $depth THEN $depth ELSE retrieved_docs END END AS num_ret,
  CAST(1 AS DOUBLE) AS docs,
  CAST(1 AS DOUBLE) AS chance
FROM (
  SELECT
    l.list_id,
    j.relevance,
    NULLIF(ARRAY_POSITION(r.documents, j.doc_id), 0) AS place,
    r.retrieved_docs
  FROM lists AS l
  LEFT JOIN (
    SELECT
      group_id,
      query_id,
      ARRAY_AGG(doc_id ORDER BY score DESC, doc_id DESC) AS documents,
      COUNT(*) AS retrieved_docs
    FROM run
    GROUP BY group_id, query_id
  ) AS r ON r.group_id = l.group_id AND r.query_id = l.query_id
  JOIN qrels AS j ON j.group_id = l.group_id AND j.query_id = l.query_id
) AS looked_up
