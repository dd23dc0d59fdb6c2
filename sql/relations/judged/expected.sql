-- judged: every judged document once (docs 1, no rank), then each rank of its tie group with the chance
-- that documents of this grade stand there (docs 0), which is exact for metrics that are sums over documents.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Costly: every list is ranked.
-- Never zero: r.last_rank - r.first_rank + 1.
SELECT
  j.list_id,
  j.relevance,
  CAST(NULL AS BIGINT) AS rank,
  CASE WHEN r.first_rank <= $depth THEN r.num_ret END AS num_ret,
  CAST(1 AS DOUBLE) AS docs,
  CAST(0 AS DOUBLE) AS chance
FROM judgments AS j
LEFT JOIN ranked AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
UNION ALL
SELECT
  tied.list_id,
  tied.relevance,
  r.rank,
  r.num_ret,
  CAST(0 AS DOUBLE) AS docs,
  tied.tied_docs / (r.last_rank - r.first_rank + 1) AS chance
FROM (
  SELECT
    j.list_id,
    j.relevance,
    r.first_rank,
    COUNT(*) AS tied_docs
  FROM judgments AS j
  JOIN ranked AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
  GROUP BY j.list_id, j.relevance, r.first_rank
) AS tied
JOIN ranked AS r ON r.list_id = tied.list_id AND r.first_rank = tied.first_rank
WHERE r.rank <= $depth
