-- ECE: expected calibration error: mean over bins, by weight, of the absolute difference of mean probability and share of positives.
--     ECE = sum over bins B of (w_B / w) |mean p in B - mean y in B|
-- Full name: expected calibration error.
-- Use when: you need calibration by score range in one number. It depends on the bins and is above 0 even for a perfect model if rows are few.
-- binning: default equal_width: bins of equal width, or of equal mass.
-- Requires: binary labels, probabilities.
-- Interval: none (noise alone makes it greater, and no known interval covers it)
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: Naeini et al. 2015; Guo et al. 2017.
SELECT
  group_id,
  SUM(ABS(score_sum - label_sum)) / NULLIF(SUM(weight), 0) AS ece
FROM calibration_bins
GROUP BY group_id
