-- MSE: mean squared error.
--     MSE = mean of (score - label)^2
-- Full name: mean squared error.
-- Use when: large errors are much worse than small ones, and you add or decompose errors. RMSE has the unit of the label.
-- Requires: finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double, as of scores like 1e160.
-- Unit: in squared units of the label.
-- Source: scikit-learn mean_squared_error.
SELECT
  group_id,
  SUM(weight * (score - label) * (score - label)) / NULLIF(SUM(weight), 0) AS mse
FROM predictions
GROUP BY group_id
