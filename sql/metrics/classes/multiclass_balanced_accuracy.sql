-- MulticlassBalancedAccuracy: mean of the recall of the observed classes.
--     MulticlassBalancedAccuracy = mean over observed classes c of TP(c) / (TP(c) + FN(c))
-- Use when: some classes are rare and each should count the same.
-- Range: 0 to 1.
-- Interval: influence balanced_accuracy_influence FROM class_influence, cells balanced_accuracy_cells
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn balanced_accuracy_score.
SELECT
  group_id,
  SUM(tp / NULLIF(label_weight, 0)) / NULLIF(SUM(CASE WHEN label_weight > 0 THEN 1 ELSE 0 END), 0) AS multiclass_balanced_accuracy
FROM class_counts
GROUP BY group_id
