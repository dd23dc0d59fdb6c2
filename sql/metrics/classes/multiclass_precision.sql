-- MulticlassPrecision: average of the precision of all classes.
--     MulticlassPrecision = sum over classes c of share(c) TP(c) / (TP(c) + FP(c))
-- The share is 1 over the number of classes under average=macro, that of the label under weighted, and that of the denominator under micro.
-- Use when: wrong assignments to a class are expensive, and you want an average over classes.
-- Range: 0 to 1.
-- Interval: influence precision_influence FROM class_influence, cells precision_cells
-- Undefined: no predictions, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn precision_score.
SELECT
  group_id,
  CASE WHEN SUM(label_weight) > 0 THEN average_by_share(precision, precision_share) END AS multiclass_precision
FROM class_rates
GROUP BY group_id
