-- CalibrationRatio: mean predicted probability over the mean observed: above 1 the model overpredicts.
--     CalibrationRatio = sum w p / sum w y
-- Use when: you bid or plan by the probabilities and need to know if they are too high or too low in total. Errors can cancel out.
-- Reading: 1.2 means that the model predicts 20 % more positives than there are. A mean of 1 can hide bins above and below: draw Calibration.
-- Requires: binary labels, probabilities.
-- Direction: neither.
-- Range: 0 to inf.
-- Undefined: predictions without a positive.
-- Reference value: 1 (mean predicted as observed).
-- Source: "calibration" of He et al. 2014.
SELECT
  group_id,
  SUM(weight * score) / NULLIF(SUM(weight * label), 0) AS calibration_ratio
FROM predictions
GROUP BY group_id
