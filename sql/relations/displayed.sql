-- displayed: one row per group and document that stands among the first k of any of its lists: how many lists show it (shows), the
-- sums over these of 1 / length (parts) and of its square root (roots), and in how many it is the first (first_places).
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- Never zero: r.docs.
SELECT
  m.group_id,
  r.doc_id,
  COUNT(*) AS shows,
  SUM(1 / r.docs) AS parts,
  SUM(1 / SQRT(r.docs)) AS roots,
  SUM(CASE WHEN r.rank = 1 THEN 1 ELSE 0 END) AS first_places
FROM (
  SELECT
    list_id,
    doc_id,
    rank,
    CAST(CASE WHEN num_ret > $k THEN $k ELSE num_ret END AS DOUBLE) AS docs
  FROM ranked
  WHERE rank <= $k
) AS r
JOIN members AS m ON m.list_id = r.list_id
GROUP BY m.group_id, r.doc_id
