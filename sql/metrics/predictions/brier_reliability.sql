-- BrierReliability: mean squared difference of mean probability and share of positives of the bins, by weight: a part of the Brier score.
--     Brier = BrierReliability - BrierResolution + BrierUncertainty, if the scores of a bin are equal
-- Full name: reliability of the Brier score.
-- Use when: you want to know how much of a Brier score is due to calibration.
-- binning: default equal_width: bins of equal width, or of equal mass.
-- Requires: binary labels, probabilities.
-- Interval: none (noise alone makes it greater, and no known interval covers it)
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: Murphy 1973.
SELECT
  group_id,
  SUM((score_sum - label_sum) / NULLIF(weight, 0) * (score_sum - label_sum)) / NULLIF(SUM(weight), 0) AS brier_reliability
FROM calibration_bins
GROUP BY group_id
