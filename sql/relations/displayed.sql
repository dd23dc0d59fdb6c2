-- displayed: one row per group and document that stands among the first k of any of its lists: how many lists show it (shows), the
-- sums over these of 1 / sqrt(length) (roots) and of its square (squares), and in how many it is the first (first_places).
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- Never zero: SQRT(CAST(CASE WHEN num_ret > $k THEN $k ELSE num_ret END AS DOUBLE)).
SELECT
  m.group_id,
  r.doc_id,
  COUNT(*) AS shows,
  SUM(r.root) AS roots,
  SUM(r.root * r.root) AS squares,
  SUM(CASE WHEN r.rank = 1 THEN 1 ELSE 0 END) AS first_places
FROM (
  SELECT
    list_id,
    doc_id,
    rank,
    1 / SQRT(CAST(CASE WHEN num_ret > $k THEN $k ELSE num_ret END AS DOUBLE)) AS root
  FROM ranked
  WHERE rank <= $k
) AS r
JOIN members AS m ON m.list_id = r.list_id
GROUP BY m.group_id, r.doc_id
