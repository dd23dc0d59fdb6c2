-- sMAPE: symmetric mean absolute percentage error, from 0 to 2; where label and score are 0 the error is 0.
--     sMAPE = mean of (2 |score - label| / (|score| + |label|))
-- Full name: symmetric mean absolute percentage error.
-- Use when: labels differ in scale and MAPE is too sensitive to small ones.
-- Requires: finite scores.
-- Direction: lower.
-- Range: 0 to 2.
-- Undefined: no predictions, or all of weight 0.
-- Source: Makridakis 1993; CatBoost SMAPE.
SELECT
  group_id,
  SUM(weight * COALESCE(2 * ABS(score - label) / NULLIF(ABS(score) + ABS(label), 0), 0))
    / NULLIF(SUM(weight), 0) AS smape
FROM predictions
GROUP BY group_id
