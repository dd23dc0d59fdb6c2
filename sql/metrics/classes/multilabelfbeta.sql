-- MultilabelFBeta: average of the F measure of observed and predicted classes, over classes or predictions.
-- Use when: wrong and missed classes are both expensive, and a prediction may have several.
-- $beta: number above 0 to 10000, default 1: how many times recall counts as much as precision.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Range: 0 to 1.
-- Interval: influence f_influence FROM label_influence
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn fbeta_score.
SELECT
  group_id,
  SUM(f_share * zero_division((1 + $beta * $beta) * num_hits / NULLIF($beta * $beta * num_observed + num_predicted, 0)))
    / NULLIF(SUM(CASE WHEN zero_division((1 + $beta * $beta) * num_hits / NULLIF($beta * $beta * num_observed + num_predicted, 0)) IS NULL THEN 0 ELSE f_share END), 0) AS multilabel_f_beta
FROM averaged_label_sets
GROUP BY group_id
