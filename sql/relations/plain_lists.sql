-- plain_lists: one row per group of more than 32 predictions: whether it is plain (1), all its predictions weighing 1 and few
-- of them being the same.
SELECT
  e.group_id,
  CASE WHEN MAX(x.unweighted) = 1 AND 8 * COUNT(*) > MAX(x.predictions) THEN 1 ELSE 0 END AS is_plain
FROM entries AS e
JOIN extents AS x ON x.group_id = e.group_id
GROUP BY e.group_id
