-- MulticlassMCC: Matthews correlation coefficient of several classes, R_K.
-- Use when: classes are imbalanced and you want one number for the whole confusion matrix.
-- Range: -1 to 1.
-- Interval: influence mcc_influence FROM class_influence
-- Undefined: one class only, or one predicted class only.
-- Source: Gorodkin 2004; scikit-learn matthews_corrcoef.
SELECT
  group_id,
  (SUM(tp) * SUM(label_weight) - SUM(label_weight * predicted_weight))
    / NULLIF(SQRT(
      (SUM(label_weight) * SUM(label_weight) - SUM(predicted_weight * predicted_weight))
        * (SUM(label_weight) * SUM(label_weight) - SUM(label_weight * label_weight))
    ), 0) AS multiclass_mcc
FROM class_counts
GROUP BY group_id
