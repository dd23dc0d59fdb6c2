-- MulticlassPrecision: average of the precision of all classes.
-- Use when: wrong assignments to a class are expensive, and you want an average over classes.
-- Range: 0 to 1.
-- Interval: influence precision_influence FROM class_influence, cells precision_cells
-- Undefined: no predictions, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn precision_score.
SELECT
  group_id,
  CASE
    WHEN SUM(label_weight) > 0
      THEN COALESCE(
        SUM(precision_share * precision) / NULLIF(SUM(CASE WHEN precision IS NULL THEN 0 ELSE precision_share END), 0),
        AVG(precision)
      ) -- without shares, such as of classes that are never observed, all classes count the same
  END AS multiclass_precision
FROM class_rates
GROUP BY group_id
