-- MulticlassPrecision: average of the precision of all classes.
-- Use when: wrong assignments to a class are expensive, and you want an average over classes.
-- Range: 0 to 1.
-- Interval: influence precision_influence FROM class_influence
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn precision_score.
SELECT
  group_id,
  SUM(precision_share * precision) / NULLIF(SUM(CASE WHEN precision IS NULL THEN 0 ELSE precision_share END), 0) AS multiclass_precision
FROM class_rates
GROUP BY group_id
