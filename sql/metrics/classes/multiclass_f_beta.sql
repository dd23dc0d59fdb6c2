-- MulticlassFBeta: average of the F measure of all classes.
--     MulticlassFBeta = sum over classes c of share(c) (1 + beta^2) TP(c) / ((1 + beta^2) TP(c) + beta^2 FN(c) + FP(c))
-- The share is 1 over the number of classes under average=macro, that of the label under weighted, and that of the denominator under micro.
-- Full name: multiclass F measure.
-- Use when: you want precision and recall of all classes in one number. average=macro counts rare classes like frequent ones.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Range: 0 to 1.
-- Interval: influence f_influence FROM class_influence
-- Undefined: no predictions, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn fbeta_score.
SELECT
  group_id,
  CASE WHEN SUM(label_weight) > 0 THEN average_by_share(f, f_share) END AS multiclass_f_beta
FROM class_rates
GROUP BY group_id
