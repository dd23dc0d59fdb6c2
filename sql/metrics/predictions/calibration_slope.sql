-- CalibrationSlope: slope of a logistic regression of labels on the logits of scores: below 1 scores are too extreme, above 1 too moderate.
--     logit = a + slope * ln(p / (1 - p))
-- The logit is the logarithm of the odds of a positive, p the score and a an intercept.
-- Use when: you suspect that a model is overfitted, so that its scores are too close to 0 and 1, or want to recalibrate them.
-- Reading: 0.5 means that scores are twice as far from each other, in log-odds, as what was observed. If they are too high or low in total, CalibrationIntercept tells.
-- Requires: binary labels, probabilities.
-- Interval: influence slope_influence FROM recalibration_influence
-- Direction: neither.
-- Range: -inf to inf.
-- Undefined: predictions of one class only, classes whose scores do not overlap, or no convergence.
-- Reference value: 1 (scores spread as observed).
-- Source: Cox 1958; Van Calster et al. 2019; rms val.prob, CalibrationCurves val.prob.ci.2.
SELECT
  group_id,
  -- the last of the steps leaves an error of about the square of its change
  MAX(CASE WHEN ABS(slope_change) < 1e-6 * (1 + ABS(slope)) THEN slope END) AS calibration_slope
FROM recalibrations
GROUP BY group_id
