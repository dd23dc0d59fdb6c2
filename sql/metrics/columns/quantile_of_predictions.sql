-- Quantile of predictions: quantile of a column over predictions, interpolated between the two nearest values, without weights.
-- Use when: tails matter more than the mean, as for errors or amounts.
-- $column: column: column of the predictions.
-- $q: number from 0 to 1, default 0.5: 0.5 is the median.
-- Interval: none (a quantile is no mean. Share of a condition such as latency_ms > 300, mapped as a column, has an interval)
-- Range: -inf to inf.
-- Undefined: no value.
-- Unit: in units of the column.
-- Source: numpy.quantile.
SELECT
  group_id,
  QUANTILE_CONT($column, $q) AS quantile
FROM predictions
GROUP BY group_id
