-- passed: one row per list and relevant document that the baseline has for it: its place there, and its rank in the list, NULL if none.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
SELECT
  l.list_id,
  b.place,
  r.rank
FROM usual AS b
JOIN lists AS l ON l.group_id = b.group_id AND l.query_id = b.query_id
JOIN judgments AS j ON j.list_id = l.list_id AND j.doc_id = b.doc_id
LEFT JOIN ranked AS r ON r.list_id = l.list_id AND r.doc_id = b.doc_id
WHERE j.relevance >= $rel
