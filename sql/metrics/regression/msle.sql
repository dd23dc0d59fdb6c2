-- MSLE: mean squared difference of the logarithms of 1 + score and 1 + label.
--     MSLE = mean of (ln(1 + score) - ln(1 + label))^2
-- Full name: mean squared logarithmic error.
-- Use when: labels are amounts from 0 of different scale, and a ratio matters more than a difference. It favours predictions that are too high.
-- Requires: values above -1, finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn mean_squared_log_error.
SELECT
  group_id,
  SUM(weight * squared_log_error(label, score)) / NULLIF(SUM(weight), 0) AS msle
FROM predictions
GROUP BY group_id
