-- judged_documents: one row per judged document, with its rank, NULL if it was not retrieved; ties are broken by doc_id, greatest first.
-- Each ranked list is aggregated into a sorted array, in which its judged documents are looked up. The run is partitioned once, by
-- query, and not again by document.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engines: duckdb, spark, databricks and bigquery, which have arrays.
-- Materialize: every list is sorted.
-- Grain: many per list_id
SELECT
  list_id,
  relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank,
  CASE WHEN document_rank <= $depth THEN CASE WHEN retrieved_docs > $depth THEN $depth ELSE retrieved_docs END END AS list_length,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(1 AS DOUBLE) AS rank_probability
FROM (
  SELECT
    l.list_id,
    j.relevance,
    NULLIF(ARRAY_POSITION(r.documents, j.doc_id), 0) AS document_rank,
    r.retrieved_docs
  FROM ranked_lists AS l
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
