-- judged_documents: one row per list and judged document, retrieved or not: relevance, rank from list positions, and list length, without doc_id.
-- doc_count and rank_probability are always 1: each row is one document, and its rank is certain.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engines: duckdb
-- Grain: many per list_id
SELECT
  list_id, relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank, -- NULL if not retrieved
  CASE
    WHEN document_rank <= $depth THEN CASE WHEN num_documents > $depth THEN $depth ELSE num_documents END
  END AS list_length, -- documents in the list; NULL if not retrieved
  CAST(1 AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM searched_lists
WHERE relevance IS NOT NULL
