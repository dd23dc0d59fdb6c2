-- BrierResolution: variance of the share of positives between bins, by weight: a part of the Brier score.
--     Brier = BrierReliability - BrierResolution + BrierUncertainty, if the scores of a bin are equal
--     BrierResolution = (sum over bins B of w_B b_B^2 - w b^2) / w, b_B the share of positives of a bin, b that of all
-- Rounding makes it no less than 0.
-- Full name: resolution of the Brier score.
-- Use when: you want to know how much of a Brier score is due to telling positives from negatives.
-- binning: default equal_width: bins of equal width, or of equal mass.
-- Requires: binary labels, probabilities.
-- Interval: none (noise alone makes it greater, and no known interval covers it)
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: Murphy 1973.
SELECT
  group_id,
  greater(
    SUM(label_sum / NULLIF(weight, 0) * label_sum) - SUM(label_sum) * (SUM(label_sum) / NULLIF(SUM(weight), 0)),
    0
  ) / NULLIF(SUM(weight), 0) AS brier_resolution
FROM calibration_bins
GROUP BY group_id
