-- judged_documents: one row per list and judged document, retrieved or not: relevance, rank from a sorted array, and list length, without doc_id.
-- doc_count and rank_probability are always 1: each row is one document, and its rank is certain.
-- Each ranked list is aggregated into a sorted array, in which its judged documents are looked up. The run is partitioned once, by query,
-- and not again by document. Ties are broken by doc_id, greatest first.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engines: duckdb, spark, databricks and bigquery, which have arrays.
-- Materialize: every list is sorted.
-- Grain: many per list_id
SELECT
  list_id, relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank, -- NULL if not retrieved
  CASE
    WHEN document_rank <= $depth THEN CASE WHEN num_retrieved > $depth THEN $depth ELSE num_retrieved END
  END AS list_length, -- documents in the list; NULL if not retrieved
  CAST(1 AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM (
  -- one row per list and judged document
  SELECT
    ranked_lists.list_id, qrels.relevance,
    NULLIF(ARRAY_POSITION(document_arrays.documents, qrels.doc_id), 0) AS document_rank, -- position in the list, at any depth
    document_arrays.num_retrieved
  FROM qrels
  JOIN ranked_lists ON ranked_lists.group_id = qrels.group_id AND ranked_lists.query_id = qrels.query_id
  LEFT JOIN (
    -- one row per group and query of the run
    SELECT
      group_id, query_id,
      ARRAY_AGG(doc_id ORDER BY score DESC, doc_id DESC) AS documents, -- sorted from the highest score
      COUNT(*) AS num_retrieved
    FROM run
    GROUP BY group_id, query_id
  ) AS document_arrays
    ON document_arrays.group_id = ranked_lists.group_id AND document_arrays.query_id = ranked_lists.query_id
) AS positions
