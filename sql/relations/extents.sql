-- extents: one row per list: how many entries it has, their weight, the sum of the squared weights of predictions and that
-- of entries, whether labels and scores vary (1) or are all the same (0), and whether the list is plain (1): all
-- predictions weigh 1 and few of them are the same.
SELECT
  list_id,
  COUNT(*) AS entries,
  SUM(weight) AS weight,
  SUM(squares) AS squares,
  SUM(weight * weight) AS entry_squares,
  CASE WHEN MIN(label) < MAX(label) AND MIN(score) < MAX(score) THEN 1 ELSE 0 END AS varies,
  CASE WHEN MIN(lightest) = 1 AND MAX(heaviest) = 1 AND 8 * COUNT(*) > SUM(predictions) THEN 1 ELSE 0 END AS is_plain
FROM entries
GROUP BY list_id
