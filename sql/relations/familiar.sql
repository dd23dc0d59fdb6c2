-- familiar: one row per retrieved document: how many users had it before, of how many, and whether this user did not.
SELECT
  r.list_id,
  r.rank,
  COALESCE(p.users, 0) AS users,
  n.readers,
  CASE WHEN h.doc_id IS NULL THEN 1 ELSE 0 END AS is_new
FROM ranked AS r
JOIN lists AS l ON l.list_id = r.list_id
LEFT JOIN popularity AS p ON p.group_id = l.group_id AND p.doc_id = r.doc_id
LEFT JOIN readership AS n ON n.group_id = l.group_id
LEFT JOIN history AS h ON h.group_id = l.group_id AND h.query_id = l.query_id AND h.doc_id = r.doc_id
