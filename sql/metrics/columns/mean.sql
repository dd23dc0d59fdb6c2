-- Mean: mean of a column over queries, by the weights of the queries table where it has them.
-- Use when: each query has a number of your own, such as latency, cost or the grade of a judge.
-- $column: column: column of the queries table or of answers.
-- if_undefined(): default skip: what a query without a value counts.
-- Range: -inf to inf.
-- Undefined: a query without a value.
-- Unit: in units of the column.
-- Source: arithmetic mean.
SELECT
  list_id,
  MAX($column) AS mean -- of its one row
FROM list_measures
GROUP BY list_id
