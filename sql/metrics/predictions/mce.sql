-- MCE: maximum calibration error: difference of mean probability and share of positives in the worst bin.
--     MCE = max over bins B of |mean p in B - mean y in B|
-- Full name: maximum calibration error.
-- Use when: the worst score range matters, as in decisions with high stakes. Small bins make it noisy.
-- binning: default equal_width: bins of equal width, or of equal mass.
-- Requires: binary labels, probabilities.
-- Interval: none (noise alone makes it greater, and no known interval covers it)
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: Naeini et al. 2015; Guo et al. 2017.
SELECT
  group_id,
  MAX(ABS(score_sum - label_sum) / NULLIF(weight, 0)) AS mce
FROM calibration_bins
GROUP BY group_id
