-- tops: one row per list with the least of the $top greatest scores of its documents, or of all if there are fewer.
-- $top: integer from 1: how many documents of a list are looked at, ties apart.
-- Engine: duckdb
SELECT
  l.list_id,
  LIST_MIN(MAX(r.score, $top)) AS least
FROM run AS r
JOIN lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
GROUP BY l.list_id
