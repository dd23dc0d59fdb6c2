-- judged_documents: one row per list and judged document, and one per relevance and rank of a tie group: relevance, rank, and probability.
-- Rows have no doc_id.
-- Rows of the first kind count documents, and have no rank. Rows of the second kind have a rank and a probability: the expected number of
-- documents of that relevance at the rank, over all orders of its tie group. It makes metrics exact that are sums over documents.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Materialize: every list is sorted.
-- Nonzero: ranked_documents.tie_last_rank - ranked_documents.tie_first_rank + 1.
-- Grain: many per list_id
SELECT
  judgments.list_id, judgments.relevance,
  CAST(NULL AS BIGINT) AS rank, -- a rank of its tie group; NULL in rows that count documents
  CASE
    WHEN ranked_documents.tie_first_rank <= $depth THEN ranked_documents.list_length
  END AS list_length, -- documents in the list; NULL if not in it, or below the depth
  CAST(1 AS DOUBLE) AS doc_count, -- 1, or 0 in rows with a rank
  CAST(0 AS DOUBLE) AS rank_probability -- expected documents; 0 in rows without a rank
FROM judgments
LEFT JOIN ranked_documents
  ON ranked_documents.list_id = judgments.list_id AND ranked_documents.doc_id = judgments.doc_id
UNION ALL
SELECT
  tied_relevances.list_id, tied_relevances.relevance, ranked_documents.rank,
  ranked_documents.list_length,
  CAST(0 AS DOUBLE) AS doc_count,
  tied_relevances.num_documents / (ranked_documents.tie_last_rank - ranked_documents.tie_first_rank + 1) AS rank_probability
FROM (
  -- one row per list, tie group and relevance
  SELECT
    judgments.list_id, judgments.relevance, ranked_documents.tie_first_rank,
    COUNT(*) AS num_documents
  FROM judgments
  JOIN ranked_documents
    ON ranked_documents.list_id = judgments.list_id AND ranked_documents.doc_id = judgments.doc_id
  GROUP BY judgments.list_id, judgments.relevance, ranked_documents.tie_first_rank
) AS tied_relevances
JOIN ranked_documents
  ON ranked_documents.list_id = tied_relevances.list_id
  AND ranked_documents.tie_first_rank = tied_relevances.tie_first_rank
WHERE ranked_documents.rank <= $depth
