-- MAE: mean absolute error.
--     MAE = mean of |score - label|
-- Full name: mean absolute error.
-- Use when: errors count in proportion to their size, and outliers should not dominate.
-- Reading: It has the unit of the labels: 3 means that predictions are off by 3 on average.
-- Requires: finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double.
-- Unit: in units of the label.
-- Source: scikit-learn mean_absolute_error.
SELECT
  group_id,
  SUM(weight * ABS(score - label)) / NULLIF(SUM(weight), 0) AS mae
FROM predictions
GROUP BY group_id
