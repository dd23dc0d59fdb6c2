-- RMSE: root of the mean squared error.
--     RMSE = sqrt(mean of (score - label)^2)
-- Full name: root mean squared error.
-- Use when: large errors are much worse than small ones, and you want the unit of the label.
-- Reading: It has the unit of the labels: compare it with their standard deviation, which always predicting the mean costs. A few large errors dominate it.
-- Requires: finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double, as of scores like 1e160.
-- Unit: in units of the label.
-- Source: scikit-learn root_mean_squared_error.
SELECT
  group_id,
  SQRT(SUM(weight * (score - label) * (score - label)) / NULLIF(SUM(weight), 0)) AS rmse
FROM predictions
GROUP BY group_id
