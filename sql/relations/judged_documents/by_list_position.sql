-- judged_documents: one row per list and judged document, retrieved or not: relevance, rank from list positions, and list length, without doc_id.
-- doc_count and rank_probability are always 1: each row is one document, and its rank is certain.
-- The rank is the first position in the list; where documents are repeated, the number of distinct documents down to it. Nothing is sorted.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engines: duckdb
-- Materialize: every list is searched.
-- Grain: rows of judgments
SELECT
  list_id,
  relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank, -- NULL if not retrieved
  CASE
    WHEN document_rank <= $depth THEN CASE WHEN num_documents > $depth THEN $depth ELSE num_documents END
  END AS list_length, -- documents in the list; NULL if not retrieved
  CAST(1 AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM (
  -- one row per list and judged document
  SELECT
    judgments.list_id,
    judgments.relevance,
    retrieved_lists.num_documents,
    CASE
      WHEN retrieved_lists.num_documents = ARRAY_LENGTH(retrieved_lists.retrieved)
        THEN ARRAY_POSITION(retrieved_lists.retrieved, judgments.doc_id)
      ELSE ARRAY_LENGTH(LIST_DISTINCT(retrieved_lists.retrieved[1:ARRAY_POSITION(retrieved_lists.retrieved, judgments.doc_id)]))
    END AS document_rank -- at any depth
  FROM judgments
  LEFT JOIN retrieved_lists ON retrieved_lists.list_id = judgments.list_id
) AS document_ranks
