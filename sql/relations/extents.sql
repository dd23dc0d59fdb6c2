-- extents: one row per list: how many entries it has, their weight, the sum of the squares of that, and whether labels and
-- scores vary (1) or are all the same (0).
SELECT
  list_id,
  COUNT(*) AS entries,
  SUM(weight) AS weight,
  SUM(weight * weight) AS entry_squares,
  CASE WHEN MIN(label) < MAX(label) AND MIN(score) < MAX(score) THEN 1 ELSE 0 END AS varies
FROM entries
GROUP BY list_id
