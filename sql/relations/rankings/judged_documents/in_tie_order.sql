-- judged_documents: one row per list and judged document, retrieved or not: relevance, rank by the best or worst order of ties, and list length, without doc_id.
-- doc_count and rank_probability are always 1: each row is one document, and its rank is certain. ties chooses tied_rank().
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Materialize: every list is sorted.
-- Grain: rows of judgments
SELECT
  list_id, relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank, -- NULL if not retrieved
  CASE WHEN document_rank <= $depth THEN list_length END AS list_length, -- documents in the list; NULL if not retrieved
  CAST(1 AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM (
  -- one row per list and judged document
  SELECT
    judgments.list_id, judgments.relevance, ranked_documents.list_length,
    tied_rank(
      judgments.list_id, ranked_documents.tie_first_rank, ranked_documents.tie_last_rank, judgments.relevance, judgments.doc_id
    ) AS document_rank
  FROM judgments
  LEFT JOIN ranked_documents
    ON ranked_documents.list_id = judgments.list_id AND ranked_documents.doc_id = judgments.doc_id
) AS positions
