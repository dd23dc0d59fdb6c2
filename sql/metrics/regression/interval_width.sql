-- IntervalWidth: mean width of the predicted intervals.
--     IntervalWidth = mean of (high - low)
-- Use when: two forecasts have the same coverage, and you prefer the narrower one.
-- Requires: finite scores, ordered intervals.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double.
-- Unit: in units of the label.
-- Source: mean prediction interval width (MPIW).
SELECT
  group_id,
  SUM(weight * (interval_high - interval_low)) / NULLIF(SUM(weight), 0) AS interval_width
FROM predictions
GROUP BY group_id
