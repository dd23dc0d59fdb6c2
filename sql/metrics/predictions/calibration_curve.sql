-- Calibration: one row per group and bin of scores with predictions: weight, mean predicted and mean observed probability.
-- Full name: calibration curve.
-- Use when: you use probabilities and want to see in which score range they are too high or too low.
-- binning: default equal_width: bins of equal width, or of equal mass.
-- Requires: binary labels, probabilities.
-- Undefined: no row for a bin whose weights are all 0.
-- Source: reliability diagram; scikit-learn calibration_curve.
SELECT
  group_id,
  bin AS point, -- number of the bin, from 1 at the lowest scores
  weight, -- of the predictions in the bin
  score_sum / NULLIF(weight, 0) AS mean_predicted, -- weighted mean of the scores
  label_sum / NULLIF(weight, 0) AS mean_observed -- weighted share of the positives
FROM calibration_bins
