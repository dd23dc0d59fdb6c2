-- MultilabelPrecision: average of the precision of predicted classes, over classes or predictions.
--     MultilabelPrecision = sum over classes c of share(c) TP(c) / (TP(c) + FP(c)), over predictions instead under average=samples
-- Use when: wrong classes are expensive, and a prediction may have several.
-- zero_division(): default zero: value of a class or prediction whose ratio is 0 / 0.
-- Range: 0 to 1.
-- Interval: influence precision_influence FROM label_influence, cells precision_cells
-- Undefined: no predictions or no classes, or all of weight 0; under skip also if every ratio is 0 / 0.
-- Source: scikit-learn precision_score.
SELECT
  group_id,
  CASE
    WHEN SUM(weight) > 0
      THEN average_by_share(zero_division(num_hits / NULLIF(num_predicted, 0)), precision_share)
  END AS multilabel_precision
FROM averaged_label_sets
GROUP BY group_id
