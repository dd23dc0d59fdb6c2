-- judged_documents: one row per judged document, with its rank if tied documents are sorted from worst to best, NULL if not retrieved.
-- Relevant documents have the last ranks of their tie group, documents of relevance 0 or less the first ones.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Materialize: every list is sorted.
-- Grain: rows of judgments
SELECT
  list_id,
  relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank,
  CASE WHEN document_rank <= $depth THEN list_length END AS list_length,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(1 AS DOUBLE) AS rank_probability
FROM (
  SELECT
    j.list_id,
    j.relevance,
    r.list_length,
    CASE
      WHEN j.relevance > 0
        THEN r.tie_last_rank + 1 - ROW_NUMBER() OVER (
          PARTITION BY j.list_id, r.tie_first_rank ORDER BY j.relevance DESC, j.doc_id
        )
      ELSE r.tie_first_rank - 1 + ROW_NUMBER() OVER (
        PARTITION BY j.list_id, r.tie_first_rank ORDER BY j.relevance, j.doc_id DESC
      )
    END AS document_rank
  FROM judgments AS j
  LEFT JOIN ranked_documents AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
) AS ordered
