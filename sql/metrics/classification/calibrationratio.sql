-- CalibrationRatio: mean predicted probability over the mean observed: above 1 the model overpredicts.
-- Requires: binary labels, probabilities.
-- Undefined: predictions without a positive.
-- Reference value: 1 (mean predicted as observed).
-- Source: "calibration" of He et al. 2014.
-- Direction: neither.
SELECT
  group_id,
  SUM(weight * score) / NULLIF(SUM(weight * label), 0) AS calibration_ratio
FROM predictions
GROUP BY group_id
