-- contrasts: one row per list: the chance that two of its first k documents differ in category, on the mean over pairs; one of several
-- categories has a part of each.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
SELECT
  a.list_id,
  CASE WHEN a.docs > 1 THEN 1 - COALESCE(t.alike, 0) / NULLIF(a.docs * (a.docs - 1), 0) END AS contrast
FROM (
  SELECT
    list_id,
    CAST(CASE WHEN num_ret > $k THEN $k ELSE num_ret END AS DOUBLE) AS docs
  FROM answers
) AS a
LEFT JOIN (
  SELECT
    list_id,
    SUM(parts * parts - part_squares) AS alike
  FROM topical
  GROUP BY list_id
) AS t ON t.list_id = a.list_id
