-- CalibrationIntercept: calibration-in-the-large: what to add to the logits of scores so that they predict as many positives as there are.
--     logit = intercept + ln(p / (1 - p))
-- The logit is the logarithm of the odds of a positive, and p the score.
-- Use when: you need to know if scores are too high or too low in total, in a measure that does not depend on the base rate.
-- Reading: Below 0 the model overpredicts: -0.7 means that it predicts odds twice as high as observed.
-- Requires: binary labels, probabilities.
-- Interval: influence intercept_influence FROM recalibration_influence
-- Direction: neither.
-- Range: -inf to inf.
-- Undefined: predictions of one class only, or no convergence.
-- Reference value: 0 (mean predicted as observed).
-- Source: Cox 1958; Van Calster et al. 2019; CalibrationCurves val.prob.ci.2. The intercept of rms val.prob is fitted together with a slope, and is another number.
SELECT
  group_id,
  -- the last of the steps leaves an error of about the square of its change
  MAX(CASE WHEN ABS(intercept_change) < 1e-6 * (1 + ABS(intercept)) THEN intercept END) AS calibration_intercept
FROM recalibrations
GROUP BY group_id
