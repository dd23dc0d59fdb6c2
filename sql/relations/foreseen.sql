-- foreseen: one row per retrieved document, with the place that it has in the baseline, NULL if none.
SELECT
  r.list_id,
  r.rank,
  b.place
FROM ranked AS r
JOIN lists AS l ON l.list_id = r.list_id
LEFT JOIN usual AS b ON b.group_id = l.group_id AND b.query_id = l.query_id AND b.doc_id = r.doc_id
