-- MAPE: mean absolute error as a share of the label, 1 for 100 %; a label of 0 counts as eps.
--     MAPE = mean of (|score - label| / max(|label|, eps))
-- Full name: mean absolute percentage error.
-- Use when: labels are positive, far from 0, and of different scale. It favours predictions that are too low.
-- Reading: 0.1 means that predictions are off by 10 % of the label on average. Small labels dominate it.
-- $eps: number above 0, default 2.220446049250313e-16: the least that an error is divided by.
-- Requires: finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Unit: share of the label.
-- Source: scikit-learn mean_absolute_percentage_error.
-- Nonzero: greater(ABS(label), $eps).
SELECT
  group_id,
  SUM(weight * ABS(score - label) / greater(ABS(label), $eps))
    / NULLIF(SUM(weight), 0) AS mape
FROM predictions
GROUP BY group_id
