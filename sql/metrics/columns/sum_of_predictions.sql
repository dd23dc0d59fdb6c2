-- Sum of predictions: sum of a column over predictions, each times its weight.
-- Use when: totals over predictions matter, such as revenue.
-- $column: column: column of the predictions.
-- Interval: none (a sum grows with the number of predictions, Mean does not)
-- Range: -inf to inf.
-- Undefined: no value.
-- Unit: in units of the column.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(weight * $column) AS sum
FROM predictions
GROUP BY group_id
