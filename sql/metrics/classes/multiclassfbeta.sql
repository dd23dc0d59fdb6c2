-- MulticlassFBeta: average of the F measure of all classes.
-- Use when: you want precision and recall of all classes in one number. average=macro counts rare classes like frequent ones.
-- $beta: number above 0 to 10000, default 1: how many times recall counts as much as precision.
-- Range: 0 to 1.
-- Interval: influence f_influence FROM class_influence
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn fbeta_score.
SELECT
  group_id,
  SUM(f_share * f) / NULLIF(SUM(CASE WHEN f IS NULL THEN 0 ELSE f_share END), 0) AS multiclass_f_beta
FROM class_rates
GROUP BY group_id
