-- Lost: number of relevant documents among the first k of the baseline, the stage before, that are not among the first k of the list.
-- $k: integer from 1, default all: cut-off, the documents of a list that are looked at.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it grows with the number of queries.
-- Undefined: never.
-- Before: baseline.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(CASE WHEN place <= $k AND (rank IS NULL OR rank > $k) THEN 1 ELSE 0 END) AS lost
FROM passed
GROUP BY list_id
