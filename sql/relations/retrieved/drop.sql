-- retrieved: one row per retrieved and judged document; documents without a judgment are left out.
SELECT
  l.list_id,
  r.doc_id,
  r.score,
  r.rank AS given_rank
FROM run AS r
JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
JOIN judgments AS j ON j.list_id = l.list_id AND j.doc_id = r.doc_id
WHERE j.relevance >= 0
