-- judged: one row per judged document with its rank, NULL where it was not retrieved.
-- docs is 1 and chance is 1: each row is one document that certainly stands at its rank.
-- Costly: every list is ranked.
SELECT
  j.list_id,
  j.relevance,
  r.rank,
  r.num_ret,
  CAST(1 AS DOUBLE) AS docs,
  CAST(1 AS DOUBLE) AS chance
FROM judgments AS j
LEFT JOIN ranked AS r ON r.list_id = j.list_id AND r.doc_id = j.doc_id
