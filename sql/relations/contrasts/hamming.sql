-- contrasts: one row per list: in how many categories two of its first k documents differ, on the mean over pairs.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
SELECT
  a.list_id,
  2 * COALESCE(t.parted, 0) / NULLIF(a.docs * (a.docs - 1), 0) AS contrast
FROM (
  SELECT
    list_id,
    CAST(CASE WHEN num_ret > $k THEN $k ELSE num_ret END AS DOUBLE) AS docs
  FROM answers
) AS a
LEFT JOIN (
  SELECT
    list_id,
    SUM(docs * (list_docs - docs)) AS parted
  FROM topical
  GROUP BY list_id
) AS t ON t.list_id = a.list_id
