-- WeightedKappa: Cohen's kappa for ordered classes, where a prediction counts the more, the farther it is from the label.
--     kappa = 1 - mean disagreement of label and prediction / mean disagreement of all labels and all predictions
-- Use when: classes have an order, such as grades, and an error by two classes is worse than one by one.
-- Range: -1 to 1.
-- Interval: influence weighted_kappa_influence FROM disagreement_influence
-- Undefined: no predictions, or one class only.
-- Source: Cohen 1968; scikit-learn cohen_kappa_score.
SELECT
  group_id,
  1 - SUM(disagreement * weight) * SUM(weight) / NULLIF(SUM(disagreement * label_weight * predicted_weight), 0) AS weighted_kappa
FROM class_pairs
GROUP BY group_id
