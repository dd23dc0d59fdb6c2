-- MedianAbsoluteError: median of the absolute errors, without weights.
--     MedianAbsoluteError = median(|score - label|)
-- Use when: a few predictions that are far off should not count.
-- Requires: finite scores.
-- Interval: none (a median is no mean)
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions.
-- Unit: in units of the label.
-- Source: scikit-learn median_absolute_error.
SELECT
  group_id,
  QUANTILE_CONT(ABS(score - label), 0.5) AS median_absolute_error
FROM predictions
GROUP BY group_id
