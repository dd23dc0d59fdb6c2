-- MaxError: greatest absolute error of a prediction of weight above 0.
--     MaxError = max over predictions of |score - label|
-- Use when: no single prediction may be far off.
-- Requires: finite scores.
-- Interval: none (a maximum is no mean)
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Unit: in units of the label.
-- Source: scikit-learn max_error.
SELECT
  group_id,
  MAX(CASE WHEN weight > 0 THEN ABS(score - label) END) AS max_error
FROM predictions
GROUP BY group_id
