-- Churn: share of the first k documents of the list that are not among the first k of the baseline's list.
-- Use when: you want to know how many of the first k results a change replaces, before you judge anything.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Range: 0 to 1.
-- Undefined: a query for which the list or the baseline's list is empty.
-- Direction: neither.
-- Reads: previous run as baseline.
-- Source: sqlrank.
SELECT
  list_id,
  AVG(CASE WHEN rank <= $k THEN CASE WHEN overlap_depth <= $k THEN 0 ELSE 1 END END) AS churn
FROM overlap_depths
GROUP BY list_id
