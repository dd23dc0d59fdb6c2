-- MASE: mean absolute scaled error: mean of the absolute errors, each over that of a naive forecast of its series in training.
--     MASE = mean of (|score - label| / error of the naive forecast)
-- Full name: mean absolute scaled error.
-- Use when: series differ in scale, or have labels of 0. Below 1 the forecast beats the naive one of the training rows.
-- Requires: finite scores, scales above 0.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Unit: share of the error of the naive forecast.
-- Source: Hyndman & Koehler 2006.
SELECT
  group_id,
  SUM(weight * ABS(score - label) / NULLIF(seasonal_error, 0)) / NULLIF(SUM(weight), 0) AS mase
FROM predictions
GROUP BY group_id
