-- Mean of predictions: weighted mean of a column over predictions.
-- Use when: each prediction has a number of your own, such as revenue.
-- $column: column: column of the predictions.
-- Range: -inf to inf.
-- Undefined: no value, or all of weight 0; a sum beyond the greatest double.
-- Unit: in units of the column.
-- Source: numpy.average.
SELECT
  group_id,
  SUM(CASE WHEN $column IS NULL THEN 0 ELSE weight * $column END)
    / NULLIF(SUM(CASE WHEN $column IS NULL THEN 0 ELSE weight END), 0) AS mean
FROM predictions
GROUP BY group_id
