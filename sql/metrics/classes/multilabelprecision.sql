-- MultilabelPrecision: average of the precision of predicted classes, over classes or predictions.
-- Use when: wrong classes are expensive, and a prediction may have several.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Range: 0 to 1.
-- Interval: influence precision_influence FROM label_influence
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn precision_score.
SELECT
  group_id,
  SUM(precision_share * zero_division(num_hits / NULLIF(num_predicted, 0)))
    / NULLIF(SUM(CASE WHEN zero_division(num_hits / NULLIF(num_predicted, 0)) IS NULL THEN 0 ELSE precision_share END), 0) AS multilabel_precision
FROM averaged_label_sets
GROUP BY group_id
