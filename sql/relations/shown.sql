-- shown: one row per group and document that any of its lists holds, with the best rank it has there.
SELECT
  m.group_id,
  r.doc_id,
  MIN(r.rank) AS best_rank
FROM ranked AS r
JOIN members AS m ON m.list_id = r.list_id
GROUP BY m.group_id, r.doc_id
