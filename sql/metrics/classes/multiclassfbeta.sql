-- MulticlassFBeta: average of the F measure of all classes.
-- Full name: multiclass F measure.
-- Use when: you want precision and recall of all classes in one number. average=macro counts rare classes like frequent ones.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
-- Range: 0 to 1.
-- Interval: influence f_influence FROM class_influence
-- Undefined: no predictions, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn fbeta_score.
SELECT
  group_id,
  CASE
    WHEN SUM(label_weight) > 0
      THEN COALESCE(
        SUM(f_share * f) / NULLIF(SUM(CASE WHEN f IS NULL THEN 0 ELSE f_share END), 0),
        AVG(f)
      ) -- without shares, such as of classes that are never observed, all classes count the same
  END AS multiclass_f_beta
FROM class_rates
GROUP BY group_id
