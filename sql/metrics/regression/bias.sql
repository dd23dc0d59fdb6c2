-- Bias: mean of score minus label: above 0 the model predicts too much.
-- Requires: finite scores.
-- Undefined: no predictions, or all of weight 0.
-- Unit: in units of the label.
-- Source: mean error.
-- Direction: neither.
SELECT
  group_id,
  SUM(weight * (score - label)) / NULLIF(SUM(weight), 0) AS bias
FROM predictions
GROUP BY group_id
