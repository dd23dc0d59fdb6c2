-- retrieved: one row per retrieved document; documents without a judgment keep their place.
SELECT
  l.list_id,
  r.doc_id,
  r.score,
  r.rank AS given_rank
FROM run AS r
JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
