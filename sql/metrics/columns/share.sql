-- Share: mean over queries of a column that is true (1) or false (0), by the weights of the queries table where it has them.
-- Use when: each query passes or fails a check of your own.
-- $column: flag: column of the queries table or of answers, true or false, or 1 or 0.
-- if_undefined(): default skip: what a query without a value counts.
-- Range: 0 to 1.
-- Undefined: a query without a value.
-- Source: proportion.
SELECT
  list_id,
  MAX($column) AS share -- of its one row
FROM list_measures
GROUP BY list_id
