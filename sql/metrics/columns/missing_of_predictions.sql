-- Missing of predictions: number of predictions without a value in a column.
-- Use when: you need to know how many predictions a mean or share leaves out.
-- $column: column: column of the predictions.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN $column IS NULL THEN 1 ELSE 0 END) AS missing
FROM predictions
GROUP BY group_id
