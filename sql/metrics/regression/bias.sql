-- Bias: mean of score minus label: above 0 the model predicts too much.
--     Bias = mean of (score - label)
-- Use when: you need to know if predictions are too high or too low in total. Errors can cancel out.
-- Requires: finite scores.
-- Direction: neither.
-- Range: -inf to inf.
-- Undefined: no predictions, or all of weight 0.
-- Unit: in units of the label.
-- Source: mean error.
SELECT
  group_id,
  SUM(weight * (score - label)) / NULLIF(SUM(weight), 0) AS bias
FROM predictions
GROUP BY group_id
