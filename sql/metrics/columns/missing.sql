-- Missing: number of queries without a value in a column.
-- Use when: you need to know how many queries a mean or share leaves out.
-- $column: column: column of the queries table or of answers.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  CASE WHEN COUNT($column) = 0 THEN 1 ELSE 0 END AS missing
FROM list_measures
GROUP BY list_id
