-- judged_documents: one row per judged document, without a rank, and one per relevance and rank of a tie group, with a probability.
-- The probability is the expected number of documents of that relevance at the rank, over all orders of the tie group. It makes
-- metrics exact that are sums over documents. Rows of the first kind count documents (doc_count 1, rank_probability 0), rows of the
-- second kind do not (doc_count 0).
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Materialize: every list is sorted.
-- Nonzero: r.tie_last_rank - r.tie_first_rank + 1.
-- Grain: many per list_id
SELECT
  j.list_id,
  j.relevance,
  CAST(NULL AS BIGINT) AS rank,
  CASE WHEN r.tie_first_rank <= $depth THEN r.list_length END AS list_length,
  CAST(1 AS DOUBLE) AS doc_count,
  CAST(0 AS DOUBLE) AS rank_probability
FROM judgments AS j
LEFT JOIN ranked_documents AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
UNION ALL
SELECT
  tied.list_id,
  tied.relevance,
  r.rank,
  r.list_length,
  CAST(0 AS DOUBLE) AS doc_count,
  tied.tied_docs / (r.tie_last_rank - r.tie_first_rank + 1) AS rank_probability
FROM (
  SELECT
    j.list_id,
    j.relevance,
    r.tie_first_rank,
    COUNT(*) AS tied_docs
  FROM judgments AS j
  JOIN ranked_documents AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
  GROUP BY j.list_id, j.relevance, r.tie_first_rank
) AS tied
JOIN ranked_documents AS r ON r.list_id = tied.list_id AND r.tie_first_rank = tied.tie_first_rank
WHERE r.rank <= $depth
