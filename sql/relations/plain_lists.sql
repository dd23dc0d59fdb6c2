-- plain_lists: one row per list of more than 32 entries: whether it is plain (1), all its predictions weighing 1 and few of
-- them being the same.
SELECT
  p.list_id,
  CASE WHEN MIN(p.weight) = 1 AND MAX(p.weight) = 1 AND 8 * MAX(x.entries) > COUNT(*) THEN 1 ELSE 0 END AS is_plain
FROM predictions AS p
JOIN extents AS x ON x.list_id = p.list_id
WHERE p.weight > 0 AND x.entries > 32
GROUP BY p.list_id
