-- MulticlassMCC: Matthews correlation coefficient of several classes, R_K.
--     R_K = (sum of c - sum of l p) / sqrt((1 - sum of p^2) (1 - sum of l^2))
-- Sums are over classes, where l and p are the shares of the predictions with this label and of this class, c the share of those with both.
-- The numerator is sum of l (1 - p) - sum of (l - c), and 1 - x is the share of others, so that one dominant class costs no digits.
-- Full name: multiclass Matthews correlation coefficient.
-- Use when: classes are imbalanced and you want one number for the whole confusion matrix.
-- Range: -1 to 1.
-- Interval: influence mcc_influence FROM class_influence
-- Undefined: one class only, or one predicted class only.
-- Source: Gorodkin 2004; scikit-learn matthews_corrcoef.
SELECT
  group_id,
  CASE
    WHEN SUM(CASE WHEN label_weight > 0 THEN 1 ELSE 0 END) > 1 AND SUM(CASE WHEN predicted_weight > 0 THEN 1 ELSE 0 END) > 1
    THEN (
      SUM(label_weight / NULLIF(total_weight, 0) * share_of_others(predicted_weight, total_weight))
        - SUM((label_weight - tp) / NULLIF(total_weight, 0))
    ) / NULLIF(SQRT(
      SUM(predicted_weight / NULLIF(total_weight, 0) * share_of_others(predicted_weight, total_weight))
        * SUM(label_weight / NULLIF(total_weight, 0) * share_of_others(label_weight, total_weight))
    ), 0)
  END AS multiclass_mcc
FROM class_counts
GROUP BY group_id
