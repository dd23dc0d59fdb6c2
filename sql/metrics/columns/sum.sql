-- Sum: sum of a column over queries, without weights.
-- Use when: totals over queries matter, such as cost.
-- $column: column: column of the queries table or of answers.
-- aggregate(): default sum: how queries are aggregated.
-- if_undefined(): default skip: what a query without a value counts.
-- Interval: none (a sum grows with the number of queries, Mean does not)
-- Range: -inf to inf.
-- Undefined: a query without a value.
-- Unit: in units of the column.
-- Source: sqlrank.
SELECT
  list_id,
  MAX($column) AS sum -- the one value of the query; aggregate() adds those of queries
FROM list_measures
GROUP BY list_id
