-- Judged: share of the first k documents that have a judgment.
-- $k: integer from 1: cut-off, the documents of a list that are looked at.
-- denominator(): default retrieved: what the judged documents are divided by.
-- Bounds: 0 to 1.
-- Undefined: a query that was not answered.
-- Source: ir_measures Judged.
-- Better: neither.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)
    / NULLIF(denominator($k, $k, MAX(num_ret), SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END)), 0) AS judged
FROM assessed
GROUP BY list_id
