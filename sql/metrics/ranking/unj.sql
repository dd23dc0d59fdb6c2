-- Unj: unjudged documents among the first k, divided by k.
-- $k: integer from 1: cut-off, the documents of a list that are looked at.
-- Undefined: a query that was not answered.
-- Source: trec_eval unj.
-- Better: lower.
SELECT
  list_id,
  (CASE WHEN MAX(num_ret) < $k THEN MAX(num_ret) ELSE $k END - SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)) / $k AS unj
FROM assessed
GROUP BY list_id
