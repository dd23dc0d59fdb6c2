-- Calibration: mean predicted and mean observed probability per bin of scores; bins without predictions have no row.
-- binning: default equal_width: bins of equal width, or of equal mass.
-- Requires: binary labels, probabilities.
-- Undefined: the means of a bin whose weights are all 0 are NULL.
-- Source: reliability diagram; scikit-learn calibration_curve.
SELECT
  group_id,
  bin AS point,
  weight,
  score_sum / NULLIF(weight, 0) AS mean_predicted,
  label_sum / NULLIF(weight, 0) AS mean_observed
FROM calibration_bins
