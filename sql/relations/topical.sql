-- topical: one row per list and category of its first k documents: how many have it, the sums of their parts and units, and of the
-- squares of these; portion is what it has of all parts, list_docs the length of the list.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
SELECT
  list_id,
  category,
  docs,
  parts,
  part_squares,
  units,
  unit_squares,
  parts / NULLIF(SUM(parts) OVER (PARTITION BY list_id), 0) AS portion,
  list_docs
FROM (
  SELECT
    r.list_id,
    f.category,
    COUNT(*) AS docs,
    SUM(f.portion) AS parts,
    SUM(f.portion * f.portion) AS part_squares,
    SUM(f.unit) AS units,
    SUM(f.unit * f.unit) AS unit_squares,
    MAX(CASE WHEN r.num_ret > $k THEN $k ELSE r.num_ret END) AS list_docs
  FROM ranked AS r
  JOIN lists AS l ON l.list_id = r.list_id
  JOIN described AS f ON f.group_id = l.group_id AND f.doc_id = r.doc_id
  WHERE r.rank <= $k
  GROUP BY r.list_id, f.category
) AS counted
