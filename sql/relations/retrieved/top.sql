-- retrieved: one row per retrieved document that can be among the first of its list: its score is one of the greatest, or tied with
-- the last of these. A document without a score stands last, and is kept.
SELECT
  l.list_id,
  r.doc_id,
  r.score,
  r.rank AS given_rank
FROM run AS r
JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
JOIN tops AS t ON t.list_id = l.list_id
WHERE r.score IS NULL OR r.score >= t.least
