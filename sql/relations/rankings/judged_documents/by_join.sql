-- judged_documents: one row per list and judged document, retrieved or not: relevance, rank from a join, and list length, without doc_id.
-- The constants are columns of the other variants: each row is one document, at its rank with certainty.
-- Materialize: every list is sorted.
-- Grain: rows of judgments
SELECT
  judgments.list_id, judgments.relevance,
  ranked_documents.rank, -- NULL if not retrieved
  ranked_documents.list_length, -- documents in the list; NULL if not retrieved
  CAST(1 AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM judgments
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = judgments.list_id AND ranked_documents.doc_id = judgments.doc_id
