-- MultilabelFBeta: average of the F measure of observed and predicted classes, over classes or predictions.
--     MultilabelFBeta = sum over c of share(c) (1 + beta^2) TP(c) / ((1 + beta^2) TP(c) + beta^2 FN(c) + FP(c))
-- The sum is over classes c, under average=samples over predictions. The share is 1 over the number of classes under average=macro, and the share of the observed weight under weighted.
-- Full name: multilabel F measure.
-- Use when: wrong and missed classes are both expensive, and a prediction may have several.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Range: 0 to 1.
-- Interval: influence f_influence FROM label_influence
-- Undefined: no predictions or no classes, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn fbeta_score.
SELECT
  group_id,
  CASE
    WHEN SUM(weight) > 0
      THEN average_by_share(zero_division(f_measure($beta, num_hits, num_observed, num_predicted)), f_share)
  END AS multilabel_f_beta
FROM averaged_label_sets
GROUP BY group_id
