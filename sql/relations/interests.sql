-- interests: one row per list and category of what its user had before, with its portion of that.
SELECT
  list_id,
  category,
  parts / NULLIF(SUM(parts) OVER (PARTITION BY list_id), 0) AS portion
FROM (
  SELECT
    l.list_id,
    f.category,
    SUM(f.portion) AS parts
  FROM history AS h
  JOIN lists AS l ON l.group_id = h.group_id AND l.query_id = h.query_id
  JOIN described AS f ON f.group_id = l.group_id AND f.doc_id = h.doc_id
  GROUP BY l.list_id, f.category
) AS added
