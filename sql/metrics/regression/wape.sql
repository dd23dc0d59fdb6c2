-- WAPE: weighted absolute percentage error: sum of the absolute errors over that of the absolute labels, 1 for 100 %.
--     WAPE = sum of |score - label| / sum of |label|
-- Full name: weighted absolute percentage error.
-- Use when: labels such as sales are often 0 or small, where MAPE is too great, and large ones matter most.
-- Requires: finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no label other than 0 of weight above 0.
-- Unit: share of the label.
-- Source: Kolassa & Schuetz 2007, as MAD/mean ratio; Amazon Forecast WAPE.
SELECT
  group_id,
  SUM(weight * ABS(score - label)) / NULLIF(SUM(weight * ABS(label)), 0) AS wape
FROM predictions
GROUP BY group_id
