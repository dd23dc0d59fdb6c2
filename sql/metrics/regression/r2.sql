-- R2: coefficient of determination: one minus the squared error over that of always predicting the mean.
--     R2 = 1 - sum w (y - s)^2 / sum w (y - mean y)^2
-- Equal labels have no variance, but deviations from their rounded mean.
-- Full name: coefficient of determination.
-- Use when: you want the share of variance that a model explains. Below 0 the mean is better than the model.
-- Reading: 0 is as good as always predicting the mean, and values below 0 are worse than that. It rises with the variance of the labels.
-- Requires: finite scores.
-- Range: -inf to 1.
-- Undefined: labels that are all equal.
-- Source: scikit-learn r2_score.
SELECT
  group_id,
  1 - SUM(weight * (score - label) * (score - label))
    / NULLIF(label_squares(label, mean_label, weight), 0) AS r2
FROM predictions_with_means
GROUP BY group_id
