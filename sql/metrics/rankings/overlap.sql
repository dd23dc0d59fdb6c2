-- Overlap: documents among the first k of both the list and the baseline's list, divided by k.
--     Overlap@k = documents among the first k of both lists / k
-- Use when: you want to know how many of the first k results a change keeps, before you judge anything.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a query for which the list or the baseline's list is empty.
-- Direction: neither.
-- Reads: previous run as baseline.
-- Source: Fagin, Kumar & Sivakumar 2003.
SELECT
  list_id,
  SUM(CASE WHEN overlap_depth <= $k THEN 1 ELSE 0 END) / $k AS overlap
FROM overlap_depths
GROUP BY list_id
