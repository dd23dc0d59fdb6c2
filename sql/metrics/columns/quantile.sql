-- Quantile: quantile of a column over queries, interpolated between the two nearest values, without weights.
-- Use when: tails matter more than the mean, as for latency.
-- $column: column: column of the queries table or of answers.
-- aggregate(): default quantile: how queries are aggregated.
-- if_undefined(): default skip: what a query without a value counts.
-- Interval: none (a quantile is no mean. Share of a condition such as latency_ms > 300, mapped as a column, has an interval)
-- Range: -inf to inf.
-- Undefined: a query without a value.
-- Unit: in units of the column.
-- Source: numpy.quantile.
SELECT
  list_id,
  MAX($column) AS quantile -- the one value of the query; aggregate() takes the quantile
FROM list_measures
GROUP BY list_id
